#!/bin/sh
# Sends a message when a reading is gone, and another one when it is back. The readers' page
# has a unit for it. With a filter of jq, a reading for which it says no is gone, too:
#
#   messages.sh http://BOARD:5000/datasensor https://ntfy.sh/TOPIC '.temperature_C < 30'

# Keeps the reading, or why there is none. The limit is for a board that sends without end
look() {
  answer=$(curl -sS --fail-with-body -m 5 --limit-rate 200k "$url" 2>&1) &&
    { [ -z "$filter" ] || printf '%s\n' "$answer" | jq -e "$filter" >/dev/null; }
}

# Sends a text, again and again until it is taken
send() {
  until curl -fsS -m 10 -o /dev/null --data-raw "$(printf %.1000s "$1")" "$topic"; do
    sleep 60
  done
}

url=$1 topic=$2 filter=${3-}
name=${url#*://}
name=${name##*@} # without a password
while :; do
  # One failed look may be a reboot, or a gap of Wi-Fi
  while look || { sleep 60 && look; }; do sleep 60; done
  reason=${answer#*'"detail":"'}
  send "$name: ${reason%%'"}'*}"
  until look; do sleep 60; done
  send "$name is back"
done
