# The service: its limits, its sandbox, its log, its readers, and how it recovers.
# shellcheck shell=bash disable=SC2154,SC2016 # begin is a word; a line of sed
set -e
guide=/usr/share/doc/datasensor/src/board/README.md
page=/usr/share/doc/datasensor/src/readers/README.md

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

## Flags add IPv6, and Deno's variables in the settings change nothing
# With them, the service would listen on another port, and believe a client's header
settings 'FLAGS=--host :: --max-age 60 --json' 'SENSOR=echo 21.5' \
  DENO_SERVE_ADDRESS=tcp:127.0.0.1:5001 DENO_TRUST_PROXY_HEADERS=1
shows 21.5 curl -fsS -m 5 'http://[::1]:5000/datasensor'
shows 21.5 curl -fsS -m 5 -H 'X-Deno-Client-Address: forged' http://board:5000/datasensor?forged
shows '*: 10.0.2.15 - - *"GET /datasensor?forged HTTP/1.1" 200 -' journalctl -q -u datasensor -n 1

## The page's unit sends what a board has, deaths, limits and wrong lines; its file stays
sed 's/^PAUSE_S = 60/PAUSE_S = 0.5/' /usr/share/datasensor/messages.py | program messages.py
printf '{"n":"%s","t":31}\n' 'living room' büro >/run/readings
settings 'FLAGS=--json --key n --max-age 3' 'SENSOR=while sleep 1; do cat /run/readings; done'
types() { bash -c "$(sed -n '/^test -e/,/^head/p' $page | sed 's,//BOARD,//board,; s,https://ntfy.sh/.*,http://board:8000,')"; }
types
systemd-run -q --unit=receiver python3 -uc 'import http.server as h
class Handler(h.BaseHTTPRequestHandler):
    do_POST = lambda it: (print(it.rfile.read(int(it.headers["Content-Length"])).decode()), it.send_response(204), it.end_headers())
h.HTTPServer(("", 8000), Handler).serve_forever()'
received() { shows "*$1*" journalctl -q -u receiver -o cat; }
printf 'http://board:5000/datasensor/%s\n' 'living%20room t < 30' 'b%C3%BCro t<30' >>/etc/datasensor-messages
types
received $'Not watched: *b%C3%BCro t<30: *\nliving room on board t < 30\nboard*: 2 sensors: büro, living room'
received 'living room on board: not t < 30 since *: {"n":"living room","t":31}'
sed -i 2d /run/readings
received 'büro on board: silent since *'
systemctl stop datasensor-messages receiver datasensor

## The readers' page's unit publishes each reading, or a sensor's, and nothing without one
bash -e <(sed -n '/^sudo apt install mosquitto /,/^```/{/^```/d;p}' $guide)
systemctl stop mosquitto
publishes() { # UNIT PATH
  sed -n '/^## MQTT/,/^Start/{/^\[Service\]/,/^Wanted/p}' $page |
    sed "s,BOARD:,board:,; s,/datasensor,$2,g" |
    install -m 644 /dev/stdin "/etc/systemd/system/$1.service"
  drop_in "$1" < <(echo '[Service]'; sed -n '/^LoadCredential=/,/^Environment=/p' $page)
  systemctl start "$1"
}
settings 'FLAGS=--json --key room --max-age 3' 'SENSOR=sleep infinity'
publishes mqtt-all /datasensor
publishes mqtt-one /datasensor/living%%20room
log=(journalctl -q -u 'mqtt-*' --since)
shows '*curl: (22)*' "${log[@]}" "$begin"
settings 'FLAGS=--json --key room --max-age 3' \
  "SENSOR=while echo '{\"room\":\"living room\",\"t\":22}'; do sleep 1; done"
shows '*Connection refused*' "${log[@]}" "$begin"
systemctl start mosquitto
XDG_CONFIG_HOME=/etc/datasensor mosquitto_sub -h board -v -t 'BOARD/#' >/run/published & subscriber=$!
for t in 22 23; do
  sed -i "s/\"t\":22/\"t\":$t/" /etc/default/datasensor
  systemctl restart datasensor-sensor
  shows "*BOARD/datasensor {\"living room\":{\"room\":\"living room\",\"t\":$t}}*" cat /run/published
  shows "*BOARD/datasensor/living%20room {\"room\":\"living room\",\"t\":$t}*" cat /run/published
  systemctl stop datasensor-sensor
  silent=$(date +@%s)
  shows '*curl: (22)*' "${log[@]}" "$silent"
done
systemctl stop datasensor
shows '*curl: (7)*' "${log[@]}" "$silent"
systemctl stop mqtt-all mqtt-one
kill $subscriber
shows 4 sh -c 'sort -u /run/published | wc -l'

## The page's other command sends a reading as it is to an HTTP service
program receiver <<'END'
#!/usr/bin/python3
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n@/etc/passwd")
    def do_POST(self):
        print(self.headers["Content-Type"], self.rfile.read(12), flush=True)
HTTPServer(("", 5000), Handler).serve_forever()
END
receiver >/run/received & receiver=$!
sed -i "s,timeout.*\(; done\),$(grep data-raw $page)\1,; s,URL,http://board:5000," \
  /etc/systemd/system/mqtt-all.service
systemctl daemon-reload
systemctl start mqtt-all
shows "application/json b'@/etc/passwd'*" cat /run/received
systemctl stop mqtt-all
kill $receiver

## Drop-ins keep requests out of the log, and set the pause of a sensor
drop_in datasensor <<<$'[Service]\nLogLevelMax=notice'
drop_in datasensor-sensor <<<$'[Service]\nRestartSec=60'
settings FLAGS=--json
lacks 'The sensor has sent no reading so far'
echo oops >/run/datasensor
logs 'Dropping lines that are not JSON, such as "oops"'
fails grep GET <(journalctl -q -u datasensor --since "$begin")
shows 1min systemctl show -P RestartUSec datasensor-sensor

## A drop-in lets the service listen on port 80
drop_in datasensor <<'END'
[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
END
settings 'FLAGS=--host :: --port 80' 'SENSOR=echo 21.5'
systemctl reboot

## After a boot, it listens there, where no other account can while it does not
shows '"21.5"' curl -fsS -m 5 http://board/datasensor
shows '"21.5"' curl -fsS -m 5 'http://[::1]/datasensor'
systemctl stop datasensor
shows '*PermissionError*' setpriv --reuid=pi --clear-groups \
  python3 -c 'import socket; socket.socket().bind(("", 80))'
systemctl revert datasensor datasensor-sensor
shows 15s systemctl show -P RestartUSec datasensor-sensor

## The guide's command shows why a sensor fails, after each of five restarts within a minute
# Also where the journal has little room
mkdir /etc/systemd/journald.conf.d
printf '[Journal]\nStorage=volatile\nRuntimeMaxUse=64M' >/etc/systemd/journald.conf.d/board.conf
systemctl restart systemd-journald
program my-filter <<<$'#!/bin/sh\nseq -f "line %g of a traceback" 69 >&2\ncat /run/reason >&2\nexit 1'
command=$(grep -m 1 '^sudo journalctl.* datasensor-sensor ' $guide)
for reason in 1 2 3 4 5; do
  echo "Error: no. $reason" >/run/reason
  settings 'SENSOR=while :; do echo 21.5; done | my-filter' # which ends with its filter
  shows "*Error: no. $reason*status=1/FAILURE*" sh -c "$command"
done
shows '[1-9]*' systemctl show -P NRestarts datasensor-sensor
[[ $(sh -c "$command") == *'Error: no. 5'* ]]
# Four times as many lines, where there is room, are at most 90 MB a day
shows $'6min\n210' systemctl show -P LogRateLimitIntervalUSec -P LogRateLimitBurst datasensor-sensor
