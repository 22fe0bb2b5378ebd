#!/bin/sh
# Publishes the readings of the boards to an MQTT broker; skips errors and stale
# readings.

trap 'kill $loops; exit' INT TERM # Ctrl+C alone would not stop them
boards=$(cat boards) || exit
for board in $boards; do
  while :; do
    reading=$(curl -fsS -m 5 "http://$board:5000/datasensor") &&
      mosquitto_pub -h BROKER -t "$board/datasensor" -m "$reading"
    sleep 5
  done &
  loops="$loops $!"
done
wait
