#!/bin/sh
# Sends a message when a reading is gone, and another one when it is back. The readers' page
# has a unit for it. With a filter of jq, a reading is good only while the filter says true:
#
#   messages.sh http://BOARD:5000/datasensor https://ntfy.sh/TOPIC '(.temperature_C | numbers) < 30'

# Asks for the reading. The limits are for a board that sends without end
look() {
  answer=$(curl -sS -m 5 -w '\n"HTTP %{http_code}, curl %{exitcode}"' "$url" 2>&1 | head -c 1M)
  is "$filter"
}

# Tells whether the answer is one JSON text, with 200, for which a filter says true
is() {
  printf %s "$answer" |
    jq -es ".[1:] == [\"HTTP 200, curl 0\"] and (.[0] | [$1] == [true])" >/dev/null 2>&1
}

# Prints why the answer is no good reading
reason() {
  if is true; then printf 'not %s: ' "$filter"; fi
  start=$(printf %s "$answer" | jq -Rrs '.[:1000]') # dash takes minutes to search 300 KB
  case $start in *'"detail":"'*) start=${start#*'"detail":"'}; start=${start%%'"}'*} ;; esac
  printf %s "$start"
}

# Sends a text, again and again until it is taken: a redirect does not take it
send() {
  while status=$(curl -sS -m 10 -o /dev/null -w '%{http_code}' --data-raw "$1" "$topic"); [ "${status%??}" != 2 ]; do
    echo "The message was not taken: HTTP $status" >&2
    sleep 60
  done
}

[ $# = 2 ] || [ $# = 3 ] || { echo "Usage: messages.sh READING_URL MESSAGE_URL [FILTER]" >&2; exit 2; }
jq -n "empty | [${3:-true}]" || exit
url=$1 topic=$2 filter=${3:-true} name=${1#*://}
name=${name##*@} # without a password
while :; do
  # One failed look may be a reboot, or a gap of Wi-Fi
  while look || { sleep 60 && look; }; do sleep 60; done
  send "$name: $(reason)"
  until look; do sleep 60; done
  send "$name is back"
done
