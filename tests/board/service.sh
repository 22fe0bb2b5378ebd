# The service: what is installed, its limits, its sandbox, its log, and how it recovers.
# shellcheck shell=bash disable=SC2154 # begin is a word
set -e

## The package serves the processor's temperature, a page and metrics
install_package
serves 48.312
shows '<!doctype html>*' curl -fsS -m 5 http://board:5000/
shows '*datasensor_reading 48.312*' curl -fsS -m 5 http://board:5000/metrics
systemctl is-enabled datasensor datasensor-sensor

## A board without such a file answers 503, and its journal says why
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
while printf '\030\n'; do python3 -u my-sensor.py; sleep 5; done |
  ./datasensor --stdin --json"
shows '*Cannot listen on "0.0.0.0", port 5000: another program uses the port*' bash -c "$loop"
systemctl stop datasensor
bash -c "$loop" >shown 2>&1 &
serves 21.5
pkill -INT -x datasensor # as Ctrl+C does
wait $!
grep 'Press CTRL+C to quit' shown

## The unit limits memory, tasks and file descriptors
systemctl start datasensor
shows 268435456 systemctl show -P MemoryMax datasensor
shows 32 systemctl show -P TasksMax datasensor
grep 'Max open files  *192  *192' "/proc/$(main_pid datasensor)/limits"

## The service runs as a user of its own, even if there is a group of its name
groupadd datasensor
systemctl restart datasensor
serves 48.312
shows '6[0-9][0-9][0-9][0-9]' ps -o uid= -p "$(main_pid datasensor)"
status=/proc/$(main_pid datasensor)/status
grep -P 'CapEff:\t0000000000000000' "$status"
grep -P 'NoNewPrivs:\t1' "$status"
grep -P 'Seccomp:\t2' "$status"

## systemd rates the sandboxes, from 10 for none to 0
systemd-analyze security --threshold=13 datasensor >/dev/null
systemd-analyze security --threshold=30 datasensor-sensor >/dev/null

## Only root may write readings, and a write starts nothing
systemctl stop datasensor
fails setpriv --reuid=pi --clear-groups sh -c 'echo 66.6 >/run/datasensor'
fails timeout 1 sh -c 'echo 66.6 >/run/datasensor'
fails systemctl is-active datasensor datasensor-sensor

## The service can start no program, knows the board's address, and is killed first
systemctl restart datasensor
shows '*Page with graphs: http://10.0.2.15:5000/' journalctl -q -u datasensor -n 1
fails nsenter -m -t "$(main_pid datasensor)" /usr/bin/true
grep -x 1000 "/proc/$(main_pid datasensor)/oom_score_adj"
grep -z MALLOC_TRIM_THRESHOLD_=131072 "/proc/$(main_pid datasensor)/environ"

## A service that crashes is back, and so is the sensor
settings FLAGS=--json 'SENSOR=while echo 21.5; do sleep 1; done'
serves 21.5
systemctl kill -s KILL datasensor
shows 1 systemctl show -P NRestarts datasensor
serves 21.5

## A stop of the service stops the sensor, too
systemctl stop datasensor
shows $'inactive\ninactive' systemctl is-active datasensor datasensor-sensor

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
settings FLAGS=--jsn 'SENSOR=echo 21.5'
shows failed systemctl is-active datasensor
logs 'Unknown flag "--jsn"'
shows 2 systemctl show -P ExecMainStatus datasensor
shows 0 systemctl show -P NRestarts datasensor
settings FLAGS=--json 'SENSOR=echo 21.5'
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

## A start makes the FIFO again
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

## Without the settings, or with a byte that is not UTF-8, there is no sensor
# systemd leaves out the whole file
rm /etc/default/datasensor
systemctl restart datasensor
lacks 'The sensor has sent no reading so far'
logs 'No sensor: /etc/default/datasensor is missing, has no SENSOR=, or is not UTF-8'
settings $'PLACE=caf\351' 'SENSOR=echo 21.5'
lacks 'The sensor has sent no reading so far'
rm /etc/default/datasensor
dpkg -i --force-confmiss /packages/datasensor_arm64.deb
serves 48.312

## A text instead of the sensor is refused
settings 'FLAGS=--message hello'
shows failed systemctl is-active datasensor
logs '--message cannot be used with --stdin'

## Flags add IPv6, and Deno's variables in the settings change nothing
# With them, the service would listen on another port, and believe a client's header
settings 'FLAGS=--host :: --max-age 60 --json' 'SENSOR=echo 21.5' \
  DENO_SERVE_ADDRESS=tcp:127.0.0.1:5001 DENO_TRUST_PROXY_HEADERS=1
shows 21.5 curl -fsS -m 5 'http://[::1]:5000/datasensor'
shows 21.5 curl -fsS -m 5 -H 'X-Deno-Client-Address: forged' http://board:5000/datasensor?forged
shows '*: 10.0.2.15 - - *"GET /datasensor?forged HTTP/1.1" 200 -' journalctl -q -u datasensor -n 1

## Drop-ins set the pause of a sensor, and its longest run
drop_in datasensor-sensor <<<$'[Service]\nRestartSec=60\nRuntimeMaxSec=3600'
shows 1min systemctl show -P RestartUSec datasensor-sensor
shows 1h systemctl show -P RuntimeMaxUSec datasensor-sensor

## A drop-in keeps only warnings in the log
drop_in datasensor <<<$'[Service]\nLogLevelMax=notice'
settings FLAGS=--json
shows '*"status":503*' curl -sS -m 5 http://board:5000/datasensor?silent
echo oops >/run/datasensor
logs 'Dropping lines that are not JSON, such as "oops"'
fails grep silent <(journalctl -q -u datasensor)

## A drop-in lets the service listen on port 80
drop_in datasensor <<'END'
[Service]
PrivateUsers=no
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
END
settings 'FLAGS=--host :: --port 80' 'SENSOR=echo 21.5'
systemctl reboot

## After a boot, it listens there, where no other account can while it does not
shows '"21.5"' curl -fsS -m 5 http://board/datasensor
shows '"21.5"' curl -fsS -m 5 'http://[::1]/datasensor'
systemctl stop datasensor
fails setpriv --reuid=pi --clear-groups \
  python3 -c 'import socket; socket.socket().bind(("", 80))'

## A revert removes both drop-ins
systemctl revert datasensor datasensor-sensor
settings 'SENSOR=echo 21.5'
serves '"21.5"'
shows 15s systemctl show -P RestartUSec datasensor-sensor

## A sensor that fails leaves its whole reason, and few lines
# Each attempt leaves eight lines, since the loop ends with its filter
program my-filter <<'END'
#!/bin/sh
seq -f 'reason %g' 6 >&2
exit 1
END
settings FLAGS=--json 'SENSOR=while :; do echo 21.5; done | my-filter'
shows 1 systemctl show -P NRestarts datasensor-sensor
logs $'reason 5\n*reason 6\n*status=1/FAILURE'
[ "$(journalctl -q -u 'datasensor*' -p notice --since "$begin" | wc -l)" -le 16 ]
