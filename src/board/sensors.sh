#!/bin/sh
# Several sensors, each with a name. Install a copy, and replace these sensors by yours, also
# in the last lines:
#
#   sudo install -m 755 /usr/share/datasensor/sensors.sh /usr/local/bin
#
# Set both lines in /etc/default/datasensor:
#
#   FLAGS=--json --key name
#   SENSOR=/usr/local/bin/sensors.sh

# All DS18B20: jq makes their ids, or the names for these, the name. One that hangs ends after 60 s
outside() {
  timeout -v 60 /usr/lib/datasensor/ds18b20 |
    jq -c --unbuffered '{name: ({"28-0000075a1b2c": "outside"}[.id] // .id), temperature_C}'
}

# A DHT22
inside() (
  cd /sys/bus/iio/devices/iio:device0 &&
    timeout -v 60 jq -nc '{name: "inside", temperature_C: (input / 1000), humidity: (input / 1000)}' \
      in_temp_input in_humidityrelative_input
)

# Another board's reading, an object or not. It may be as old as the limits of both boards
# together
cellar() {
  curl -fsS -m 10 http://BOARD:5000/datasensor |
    jq -c '(objects // {value: .}) + {name: "cellar"}'
}

# A program that prints objects without a name forever
greenhouse() {
  /usr/local/bin/greenhouse | jq -c --unbuffered '{name: "greenhouse"} + .'
}

# An Arduino that prints such lines as {"name": "attic", "temperature_C": 21.5}, without the
# first one, whose start may be missing
attic() {
  (stty 115200 raw -echo icrnl && sed 1d) </dev/ttyACM0
}

# Devices that send over MQTT and HTTP, as the guide says
mqtt() {
  /usr/lib/datasensor/mqtt
}
http() {
  /usr/lib/datasensor/receive /etc/datasensor/word
}

# Runs sensors one after the other, again and again. What a sensor has printed of a line when
# it ends gets a mark: without it, the next line would be joined to it. grep prints whole
# lines, of up to 4 KB, so that those of sensors that run side by side do not mix
repeat() {
  while :; do
    for sensor; do
      "$sensor"
      printf '\030\n'
    done
    sleep 15
  done | grep -a --line-buffered .
}

# Sensors that end share a line here; those that print forever have lines of their own
repeat outside inside cellar &
repeat greenhouse &
repeat attic &
repeat mqtt &
repeat http &
wait
