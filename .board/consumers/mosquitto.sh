#!/bin/sh
# Publishes the board's reading to an MQTT broker, but no error and no old reading.

while :; do
  reading=$(curl -fsS -m 5 http://BOARD.local:5000/datasensor) &&
    mosquitto_pub -h BROKER -t BOARD/datasensor -m "$reading"
  sleep 5
done
