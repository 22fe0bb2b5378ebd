#!/bin/sh
# Publishes the reading of a board to an MQTT broker every 5 s, as BOARD/datasensor. Skips
# errors, stale readings, redirects, empty bodies and those of 64 KiB or more, and says so
# once, and when that ends. datasensor-mqtt@.service starts it at boot.
#
# Usage: mosquitto.sh BROKER BOARD

broker=$1 board=$2
show=S # lets curl show errors
end=$(cat /proc/sys/kernel/random/uuid) # no body can contain it
while :; do
  # Without this end, curl has failed, or the body is too long
  reading=$({
    curl -fs$show -m 5 -L --max-redirs 0 "http://$board:5000/datasensor" &&
      echo "$end"
  } | head -c 65536)
  case $reading in
    ?*"$end")
      [ "$show" ] || echo "$board: published again" >&2
      show=S
      # Without a limit, a broker that does not answer would get an old reading
      timeout 5 mosquitto_pub -h "$broker" -t "$board/datasensor" -m "${reading%"$end"}"
      ;;
    *)
      [ -z "$show" ] || echo "$board: nothing is published for now" >&2
      show=
      ;;
  esac
  sleep 5
done
