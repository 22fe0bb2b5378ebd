# Devices: serial ports, and those that send over MQTT and HTTP.
# shellcheck shell=bash disable=SC2154 # begin is a word
set -e
guide=/usr/share/doc/datasensor/src/board/README.md
examples=/usr/share/datasensor/examples.conf
word=$(cat /etc/datasensor/word 2>/dev/null) || true # once it is made

## A serial port is a sensor, without its first line
install_package
# This device ends its lines with a carriage return only
arduino 'b"5\r"' 'b"21.5\r"'
settings FLAGS=--json "SENSOR=(stty 115200 raw -echo icrnl && sed 1d) </dev/ttyACM0"
serves 21.5
systemctl stop arduino

## Devices send over MQTT until one falls silent
types 'sudo apt install mosquitto'
install -D /etc/datasensor/mosquitto_sub ~/.config/mosquitto_pub # the password
# As the example says for Zigbee2MQTT
settings 'FLAGS=--json --key name --max-age 6' "$(grep '/mqtt$' $examples) -t zigbee2mqtt/+"
publish zigbee2mqtt/kitchen '{"temperature": 21.5, "linkquality": #}' & zigbee=$!
publish tele/plug/SENSOR '{"Time": "2026-11-27T12:00:00", "ENERGY": {"Power": 5, "Today": null}, "name": "forged"}' & plug=$!
publish attic/sensor/air/state '#' & attic=$!
serves '{"Time":"2026-11-27T12:00:00","ENERGY":{"Power":5,"Today":null},"name":"plug"}' /plug
fails grep -f <(sed -n 's/^-P //p' ~/.config/mosquitto_pub) <(ps axww)
# One that was heard for 10 s stays known
shows '{"air":[1-9][2-9],"name":"attic/air"}' curl -fsS -m 5 http://board:5000/datasensor/attic/air
shows '{"temperature":21.5,"linkquality":[1-9][2-9],"name":"zigbee2mqtt/kitchen"}' curl -fsS -m 5 http://board:5000/datasensor/zigbee2mqtt/kitchen
kill $attic $plug $zigbee
publish attic/sensor/air/state '' nan $'1}\n{"name":"forged","value":99' & attic=$!
publish tele/plug/SENSOR '{"DHT11": {"Temperature": null}}' & plug=$!
lacks 'The last reading is' /attic/air
lacks 'The last reading is' /plug
lacks 'The last reading is' /zigbee2mqtt/kitchen
knows '["attic/air","plug","zigbee2mqtt/kitchen"]'
types 'sudo XDG_CONFIG_HOME' >/run/messages & messages=$!
shows '*tele/plug/SENSOR {"DHT11":*' cat /run/messages
pkill -P $messages
shows 0 systemctl show -P NRestarts datasensor-sensor
kill $plug $attic

## Devices send over HTTP until they fall silent, and what is refused is no reading
types 'openssl rand'
word=$(</etc/datasensor/word)
settings 'FLAGS=--json --key name --max-age 6' "$(grep receive $examples)"
send 404 / # it listens
# device.py on a Pico W, which boots before its router, and whose driver looks for that once
install -D /dev/stdin /root/pico/sitecustomize.py <<'END'
import builtins, json, os, sys, time, urllib.request
from types import SimpleNamespace as Module
start, sleep = time.monotonic(), time.sleep
def connect(network, password):
    wlan.isconnected = lambda up=os.path.exists("/run/router"): up
    open("/run/tried", "w")
def post(url, json, timeout, dumps=json.dumps):
    answer = wlan.isconnected() and urllib.request.urlopen(url, dumps(json).encode(), timeout)
    return Module(status_code=answer.status, close=answer.close)
wlan = Module(active=bool, connect=connect, isconnected=bool)
builtins.read_sensor = lambda: open("/run/probe").close() or int(time.monotonic() - start)
time.sleep = lambda seconds: sleep(seconds / 60)
sys.modules.update(network=Module(STA_IF=0, WLAN=lambda _: wlan), requests=Module(post=post))
END
sed "s/BOARD/board/; s/WORD/$word/; s/raise .*/return read_sensor()/" /usr/share/datasensor/device.py >/root/pico/main.py
touch /run/probe
PYTHONPATH=/root/pico python3 /root/pico/main.py & pico=$!
shows /run/tried ls /run/tried
touch /run/router
shows '{"temperature_C":[1-9][2-9],"name":"kitchen"}' curl -fsS -m 5 http://board:5000/datasensor/kitchen
rm /run/probe
send 400 "/$word/kitchen" -d '{"t": nan}' # the package's tests have all that is refused
send 404 "/${word}0/kitchen?t=1"
knows '["kitchen"]'
log=(journalctl -q -u datasensor-sensor --since "$begin")
shows 1 sh -c "${log[*]} | grep -c 'Refused a request of 10.0.2.15: Another word'" # in a minute
fails grep -f /etc/datasensor/word <(ps axww; "${log[@]}")
lacks 'The last reading is' /kitchen
kill $pico
# A board that the service does not run on sends by cron
install -m 755 /dev/stdin /home/pi/my-sensor.py <<<$'#!/bin/sh\necho \'{"t": 2.5}\''
echo "url = \"http://board:5001/$word/zero\"" >/home/pi/send
su pi -c "cd; $(sed -n 's/^\(\* \)\{5\}//p' $guide)"
serves '{"t":2.5,"name":"zero"}' /zero

## A line of 4 KB stays whole beside another program's
settings 'FLAGS=--json --key name' "SENSOR=while echo '{\"name\": \"other\"}'; do sleep 0.01; done & $(sed -n 's/^SENSOR=\(.*receive\)/\1/p' $examples)"
for ((n = 100; n < 150; n++)); do
  send 200 "/$word/station" -d "{\"t\":$n,\"x\":\"$(printf %04062d 0)\"}"
done
shows 4095 sh -c 'curl -fsS -m 5 http://board:5000/datasensor/station | wc -c'
fails journalctl -q -u datasensor -g Dropping --since "$begin"

## The receiver ends with one line when nobody reads its lines, and at an error that nobody expects
install -D /dev/stdin /root/broken/sitecustomize.py <<<'import json; json.dumps = None'
program receive-50 <<'END'
#!/bin/bash
"$@" /usr/lib/datasensor/receive /etc/datasensor/word 5002 2>/run/ended > >(true) & receiver=$!
until exec {connection}<>/dev/tcp/board/5002; do sleep 0.1; done 2>/dev/null
for _ in {1..49}; do exec {connection}<>/dev/tcp/board/5002; done
timeout 5 curl -s "http://board:5002/$(cat /etc/datasensor/word)/kitchen?t=1"; curl=$?
wait $receiver
echo "$curl, $?, $(cat /run/ended)"
END
shows '5[26], 1, receive: ?Errno 32? Broken pipe' receive-50 env
shows '5[26], 1, receive: TypeError(*)' receive-50 env PYTHONPATH=/root/broken

## Beside 1,000 connections that send a byte or a costly head every 3 s, a reading arrives within 1 s
program siege <<'END'
#!/usr/bin/python3
import random, socket, time
HEADS = 4 * [b"x"] + [b"GET /" + 4086 * b"a" + b"\r\n\r\n"]
def beat(connection):
    try:
        return connection.send(random.choice(HEADS)) and connection
    except OSError:
        return socket.create_connection(("board", 5001))
connections = [socket.socket()] * 1000
while True:
    connections = [beat(it) for it in connections]
    print("sent", flush=True)
    time.sleep(3)
END
siege >/run/siege & siege=$!
shows $'sent\nsent*' cat /run/siege
for t in 1 2 3 4 5; do # looks again where the board itself takes longer
  shows "{\"t\":$t,*" timeout 1 sh -c "curl -fsS 'http://board:5001/$word/kitchen?t=$t' &&
    curl -fsS http://board:5000/datasensor/kitchen"
done
kill $siege
