# Sensors: programs, devices, homes and files.
# shellcheck shell=bash disable=SC2016 # awk's $1
set -e

## A program that prints one reading is started again, and logs nothing
# A restart while systemd prepares the sensor would log that it was stopped
install_package
serves 48.312
program my-sensor.py <<<$'#!/usr/bin/env python3\nprint(open("/run/reading").read())'
echo 20.5 >/run/reading
settings FLAGS=--json SENSOR=/usr/local/bin/my-sensor.py
serves 20.5
echo 21.5 >/run/reading
serves 21.5
shows '' journalctl -q -u datasensor-sensor

## When the sensor stops, its last reading is soon too old, and the log says so
settings 'FLAGS=--json --max-age 5' 'SENSOR=while my-sensor.py; do sleep 1; done'
serves 21.5
systemctl stop datasensor-sensor
logs 'The last reading is * s old: the limit is 5 s (--max-age)'
lacks 'The last reading is * s old: the limit is 5 s (--max-age)'
systemctl start datasensor-sensor
serves 21.5

## A sensor opens the devices of the unit's groups; of another one after a command
for group in dialout plugdev i2c spi gpio video; do
  install -m 440 -g $group /dev/stdin /run/device-$group <<<$group
done
settings "SENSOR=echo \$(cat /run/device-*)"
serves '"dialout gpio i2c plugdev spi video"'
install -m 440 -g audio /dev/stdin /run/device <<<8.5
settings FLAGS=--json 'SENSOR=cat /run/device'
logs 'cat: /run/device: Permission denied'
usermod -aG audio datasensor-sensor
systemctl restart datasensor
serves 8.5

## A sensor can use D-Bus, as Bluetooth thermometers do
place=org.freedesktop.hostname1
settings FLAGS=--json \
  "SENSOR=busctl -j get-property $place /${place//.//} $place Hostname"
serves '{"type":"s","data":"board"}'

## A program in a home folder needs its user, whose shared memory stays
# Debian 13 lets nobody else into a home folder
chmod 700 /home/pi
cat >/home/pi/sensor.py <<'END'
import ctypes, os
libc = ctypes.CDLL(None)
calls = libc.process_vm_readv, libc.process_vm_writev
print(os.environ["HOME"], *(call(os.getpid(), 0, 0, 0, 0, 0) for call in calls))
END
setpriv --reuid=pi --clear-groups sh -c 'echo kept >/dev/shm/file'
settings 'SENSOR=python3 /home/pi/sensor.py'
logs "can't open file '/home/pi/sensor.py': * Permission denied"
drop_in datasensor-sensor <<<$'[Service]\nUser=pi'
systemctl restart datasensor
serves '"/home/pi -1 -1"' # it cannot reach into pi's other programs
shows auto-restart systemctl show -P SubState datasensor-sensor
grep -x kept /dev/shm/file
systemctl revert datasensor-sensor

## A sensor can write only to temporary folders, and gets no more rights
# Its own folder is empty at each start, and small. On Debian 13, /run/lock can be written
# to after some boots only.
program my-sensor <<'END'
#!/bin/sh
sudo true
echo ~ $(ls) $(find / \( -path /proc -o -path /sys -o -path '/tmp/.*' \) -prune -o \
  -type d -writable -print 2>/dev/null | grep -v ^/run/lock | sort)
head -c 40M /dev/zero >library-file
echo run >>/tmp/runs
END
settings SENSOR=my-sensor
shows $'run\nrun*' cat /tmp/runs
serves '"/run/datasensor-sensor /dev/mqueue /dev/shm /run/datasensor-sensor /tmp /var/tmp"'
logs 'head: error writing *: No space left on device'
logs 'sudo: The "no new privileges" flag is set'
shows datasensor-sensor stat -c %U /tmp/runs
settings SENSOR='cat /proc/self/oom_score_adj'
serves '"1000"'
shows 536870912 systemctl show -P MemoryMax datasensor-sensor

## A sensor cannot leave its sandbox by a user manager
# It tries a unit in its home, and transient ones, at a start after the manager's. For pi,
# who may have a manager, only the usual way is closed.
systemctl start polkit
program my-sensor <<'END'
#!/bin/sh
mkdir -p ~/.config/systemd/user/default.target.wants
printf '[Service]\nExecStart=touch /tmp/out-unit' >~/.config/systemd/user/out.service
ln -s ../out.service ~/.config/systemd/user/default.target.wants
login=org.freedesktop.login1
busctl call $login /org/freedesktop/login1 $login.Manager SetUserLinger ubb $(id -u) true false
root=/proc/$(pgrep -xu $(id -u) systemd)/root
for folder in '' $([ $USER = pi ] || echo $root); do
  XDG_RUNTIME_DIR=$folder/run/user/$(id -u) systemd-run --user touch /tmp/out-run >&2
done
echo tried by $USER
END
for user in datasensor-sensor pi; do
  drop_in datasensor-sensor <<<$'[Service]\nRestartSec=1\nUser='$user
  settings SENSOR=my-sensor
  serves "\"tried by $user\""
  shows '[2-9]' systemctl show -P NRestarts datasensor-sensor
  fails sh -c 'ls /tmp/out-*'
done
systemctl revert datasensor-sensor

## A sensor's lines arrive at once through filters
for filter in 'sed s/1/12/ | cut -c 2 | tr 2 7 | jq -c .+1 | grep -v 9' 'awk -W interactive "{ print \$1 + 7 }"' \
  'python3 -c "import sys; [print(int(line) + 7) for line in sys.stdin]"'; do
  settings 'FLAGS=--json --max-age 5' "SENSOR=while echo 1; do sleep 0.2; done | ${filter//\\/\\\\}"
  serves 8
done

## A sensor prints a decimal point, whatever the board's language
systemctl set-environment LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8
settings FLAGS=--json "SENSOR=awk 'BEGIN { print 43 / 2 }'"
serves 21.5
systemctl unset-environment LANG LC_ALL

## A file to which a program adds is a sensor
settings FLAGS=--json 'SENSOR=tail -n 0 -F /var/log/readings'
(while sleep 1; do echo 23.5 >>/var/log/readings; done) &
serves 23.5
kill $!

## A sensor that a restart ends within a line completes no other line
settings 'FLAGS=--json --max-age 30' \
  "SENSOR=trap 'printf 12; exit' TERM; cat /run/reading; sleep infinity & wait"
serves 21.5
echo 4.5 >/run/reading
systemctl restart datasensor-sensor
serves 4.5
logs 'Dropping lines *, such as "12'
