#!/bin/sh
# Publishes the readings of the boards to an MQTT broker; skips errors, stale readings,
# redirects, empty bodies and those of 64 KiB or more, and says so once.

trap 'kill $loops; exit' INT TERM # Ctrl+C alone would not stop them
boards=$(cat boards) || exit
loops=
for board in $boards; do
  show=S # lets curl show errors
  while :; do
    # Without END, the answer is not complete
    reading=$({
      curl -fs$show -m 5 -L --max-redirs 0 "http://$board:5000/datasensor" &&
        echo END
    } | head -c 65536)
    case $reading in
      ?*END)
        show=S
        # Without a limit, a broker that does not answer would get an old reading
        timeout 5 mosquitto_pub -h BROKER -t "$board/datasensor" -m "${reading%END}"
        ;;
      *)
        [ -z "$show" ] || echo "$board: nothing is published for now" >&2
        show=
        ;;
    esac
    sleep 5
  done &
  loops="$loops $!"
done
wait
