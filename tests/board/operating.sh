# Operating: settings, drop-ins, and what the guide and the readers' page show.
# shellcheck shell=bash disable=SC2154,SC2016 # begin is a word; a line of sed
set -e
guide=/usr/share/doc/datasensor/src/board/README.md
page=/usr/share/doc/datasensor/src/readers/README.md

## Without the settings, or with a byte that is not UTF-8, there is no sensor
install_package
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
