# Several sensors at once.
# shellcheck shell=bash
set -e

## Of seven sensors in sensors.sh, one hangs, one dies within a line, and one is a board that is down
install_package
types 'sudo apt install mosquitto'
install -D /etc/datasensor/mosquitto_sub ~/.config/mosquitto_pub # the password
types 'openssl rand'
# Nobody writes to the FIFO that the DS18B20 is here. The program that prints forever does
# not. It logs no emergency, which all terminals would show.
mount -t tmpfs tmpfs /sys/bus
mkdir -p /sys/bus/w1/devices/28-0000075a1b2c /sys/bus/iio/devices/iio:device0
mkfifo /sys/bus/w1/devices/28-0000075a1b2c/w1_slave
echo 21560 >/sys/bus/iio/devices/iio:device0/in_temp_input
echo 40216 >/sys/bus/iio/devices/iio:device0/in_humidityrelative_input
program greenhouse <<'END'
#!/bin/sh
echo '<0>No answer' >&2
printf '{"t": 23.5}\n{"t": 2'
END
arduino 'b""' "b'{\"name\": \"attic\", \"t\": 24.5}\r\n'"
install -m 755 /usr/share/datasensor/sensors.sh /usr/local/bin
sed -i s/BOARD:5000/127.0.0.1:9/ /usr/local/bin/sensors.sh # BOARD is this one
settings 'FLAGS=--json --key name' SENSOR=/usr/local/bin/sensors.sh
send 200 "/$(cat /etc/datasensor/word)/kitchen" -d '{"t": 25.5}'
publish tele/plug/SENSOR '{"t": 26.5}' & plug=$!
all='{"attic":{"name": "attic", "t": 24.5},"greenhouse":{"name":"greenhouse","t":23.5},'
all+='"inside":{"name":"inside","temperature_C":21.56,"humidity":40.216},'
all+='"kitchen":{"t":25.5,"name":"kitchen"},"plug":{"t":26.5,"name":"plug"}}'
serves "$all"
kill $plug
logs ': <0>No answer'

## A program that dies within a line before grep completes no other line
# It does so at its first start
program my-sensor <<<$'#!/bin/sh\nmkdir died && printf 12 || { echo 3.5; exec sleep infinity; }'
sed -i -e '/^repeat .*&$/d' -e 's/^wait$/repeat my-sensor/' /usr/local/bin/sensors.sh
settings 'FLAGS=--json --max-age 30' SENSOR=/usr/local/bin/sensors.sh
serves 3.5
logs 'Dropping lines *, such as "12'

## Of three DS18B20, one is unplugged, and falls silent by itself
mount -t tmpfs tmpfs /sys/bus
for id in 28-1 28-2 28-3; do
  mkdir -p /sys/bus/w1/devices/$id
  printf '58 01 4b 46 7f ff 0c 10 4c%s\n' ' : crc=4c YES' ' t=21500' >/sys/bus/w1/devices/$id/w1_slave
done
drop_in datasensor-sensor <<<$'[Service]\nRestartSec=1'
examples=/usr/share/datasensor/examples.conf
settings "$(grep -m 1 'key id$' $examples) --max-age 5" "$(grep 'ds18b20$' $examples)"
shows '1[2-9]' systemctl show -P NRestarts datasensor-sensor # one that runs for 10 s stays known
rm -r /sys/bus/w1/devices/28-3
lacks 'The last reading is' /28-3
shows '*datasensor_up{sensor="28-2"} 1*datasensor_up{sensor="28-3"} 0*' \
  curl -sS -m 5 http://board:5000/metrics
serves '{"28-1":{"id": "28-1", "temperature_C": 21.5},"28-2":{"id": "28-2", "temperature_C": 21.5}}'
logs 'No longer serving sensors that are silent for 5 s (--max-age), such as "28-3"'
