# The service: its limits, its sandbox, and how it recovers.
# shellcheck shell=bash disable=SC2154 # begin is a word
set -e

## The package serves the processor's temperature, and says if a board has none
install_package
serves 48.312
shows '<!doctype html>*' curl -fsS -m 5 http://board:5000/
shows '*datasensor_reading 48.312*' curl -fsS -m 5 http://board:5000/metrics
systemctl is-enabled datasensor datasensor-sensor
shows '' systemd-analyze verify --man=no datasensor.service datasensor-sensor.service
umount /sys/class/thermal
systemctl restart datasensor
lacks 'The sensor has sent no reading so far'
logs 'awk: cannot open *thermal_zone0/temp'
systemctl start sys-class-thermal.mount

## Without systemd, a loop feeds the executable, and ends if that cannot start
cd /tmp
ln -s /usr/bin/datasensor .
echo 'print(21.5)' >my-sensor.py
loop="ulimit -n 192
while printf '\030\n'; do python3 my-sensor.py; sleep 5; done |
  ./datasensor --stdin --json"
shows '*Cannot listen on "0.0.0.0", port 5000: another program uses the port*' bash -c "$loop"
systemctl stop datasensor
bash -c "$loop" >shown 2>&1 &
serves 21.5
pkill -INT -x datasensor # as Ctrl+C does
wait $!
grep 'Press CTRL+C to quit' shown

## The service has limits and a sandbox, even if there is a group of its name
groupadd datasensor
systemctl restart datasensor
serves 48.312
pid=$(systemctl show -P MainPID datasensor)
grep 'Max open files  *192  *192' "/proc/$pid/limits"
shows '*Uid:?6*CapEff:?0000000000000000?CapBnd*NoNewPrivs:?1?Seccomp:?2?*' cat "/proc/$pid/status"
grep -z MALLOC_TRIM_THRESHOLD_=131072 "/proc/$pid/environ"
grep -z DENO_USR2_MEMORY_TRIM=1 "/proc/$pid/environ"
grep -x 800 "/proc/$pid/oom_score_adj" # the sensor has 1000, everything else 0
fails nsenter -m -t "$pid" /usr/bin/true
shows $'335544320\n32' systemctl show -P MemoryMax -P TasksMax datasensor
systemd-analyze security --threshold=15 datasensor >/dev/null
systemd-analyze security --threshold=30 datasensor-sensor >/dev/null
shows '*Page with graphs: http://10.0.2.15:5000/*' journalctl -q -u datasensor --since "$begin"

## It starts on a kernel without user namespaces
mount -o remount,rw /proc/sys
echo 0 >/proc/sys/user/max_user_namespaces # of this board's namespace
fails unshare --user true
systemctl restart datasensor
serves 48.312
echo 10000 >/proc/sys/user/max_user_namespaces

## Only root may write readings, and a write starts nothing
systemctl stop datasensor
shows '*Permission denied' setpriv --reuid=pi --clear-groups sh -c 'echo 66.6 >/run/datasensor'
fails timeout 1 sh -c 'echo 66.6 >/run/datasensor'
fails systemctl is-active datasensor datasensor-sensor

## A service that crashes is back, as is the sensor, which can restart alone, but not start
settings FLAGS=--json 'SENSOR=while echo 21.5; do sleep 1; done'
serves 21.5
systemctl kill -s KILL datasensor
shows 1 systemctl show -P NRestarts datasensor
serves 21.5
sed -i s/21.5/22.5/ /etc/default/datasensor
systemctl restart datasensor-sensor
serves 22.5
shows 1 systemctl show -P NRestarts datasensor # so it keeps its day
systemctl stop datasensor
shows $'inactive\ninactive' systemctl is-active datasensor datasensor-sensor
systemctl restart --no-block datasensor-sensor
shows activating systemctl show -P ActiveState datasensor-sensor

## What a sensor wrote before a crash is not served after it
# The stopped service does not read what the sensor writes
settings FLAGS=--json \
  'SENSOR=until [ -e /run/write ]; do sleep 1; done; echo 66.6; exec sleep infinity'
lacks 'The sensor has sent no reading so far'
systemctl kill -s STOP datasensor
touch /run/write
shows '[0-9]*' pgrep -fx 'sleep infinity'
rm /run/write
systemctl kill -s KILL datasensor
lacks 'The sensor has sent no reading so far'
shows active systemctl is-active datasensor-sensor
lacks 'The sensor has sent no reading so far'

## An invalid flag stops the service until it is corrected
settings 'FLAGS=--message text'
logs '--message cannot be used with --stdin'
settings FLAGS=--jsn 'SENSOR=echo 21.5'
shows failed systemctl is-active datasensor
logs 'Unknown flag "--jsn"'
shows $'0\n2' systemctl show -P ExecMainStatus -P NRestarts datasensor
shows "acti*" systemctl is-active datasensor-sensor # waits for a reader of the FIFO
sed -i s/jsn/json/ /etc/default/datasensor
systemctl start datasensor
serves 21.5

## The service waits for a port that another program uses
systemctl stop datasensor
systemd-run -q --unit=other /usr/bin/datasensor --message other
serves '"other"'
systemctl start datasensor
logs 'Cannot listen on "0.0.0.0", port 5000'
systemctl stop other
serves 21.5
shows 0 systemctl show -P NRestarts datasensor

## Each start makes a new FIFO, to which nobody has a descriptor
exec 3<>/run/datasensor
systemctl restart datasensor
serves 21.5
fails test /run/datasensor -ef /proc/self/fd/3
systemctl stop datasensor
rm /run/datasensor
echo 66.6 >/run/datasensor
systemctl start datasensor
serves 21.5
shows 'prw------- root' stat -c '%A %U' /run/datasensor

## A masked sensor is inactive, and two commands bring it back
settings 'SENSOR=sleep infinity'
shows active systemctl is-active datasensor-sensor
systemctl -q mask --now datasensor-sensor
shows '*Active: inactive (dead)*' systemctl status --no-pager datasensor datasensor-sensor
systemctl -q unmask datasensor-sensor
systemctl enable --now datasensor-sensor
shows active systemctl is-active datasensor-sensor
