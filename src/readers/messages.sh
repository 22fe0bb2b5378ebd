#!/bin/sh
# Sends a message when a reading is gone or not good, and another one when it is back. The first
# line of its file is the address that takes messages. The others are addresses of readings,
# perhaps with what is good: a key, unless the reading is a number or a text itself, and then
# < or > with a number, or == with a text. A comment begins with #:
#   https://ntfy.sh/TOPIC
#   http://BOARD:5000/datasensor/freezer temperature_C < -15

# What is good. The same checks a line and takes it apart, so that none is read in another way
GRAMMAR='((?<key>[^\s."“„(]\S*) )?((?<sign>[<>]) (?<number>-?[0-9]+([.][0-9]+)?)|== (?!null$)(?<text>[^\s"“„]\S*( \S+)*))'

# Waits for a minute. What outlives the script ends then
pause() { sleep 60 && kill -0 $$ || exit; }

# Asks for the reading. The limits are for a board that sends without end
look() {
  answer=$(curl -gsS -m 5 -w '\n"HTTP %{http_code}, curl %{exitcode}"' "$url" 2>&1 | head -c 1M)
  is "$good"
}

# Tells whether the answer is one JSON text, with 200, and good
is() {
  printf %s "$answer" | jq -es --arg good "$1" --arg grammar "^$GRAMMAR$" '
    .[1:] == ["HTTP 200, curl 0"] and (.[0] | $good == "" or (
      ($good | capture($grammar)) as {$key, $sign, $number, $text}
      | [getpath(path(..) | select(join(".") == ($key // "")))]
      | length > 0 and all(
        if $text then . != null and (tostring == $text or . == ($text | tonumber? // null))
        else type == "number" and (isnan | not) and if $sign == "<" then . < ($number | tonumber)
        else . > ($number | tonumber) end end)))' >/dev/null 2>&1
}

# Prints why the answer is no good reading
reason() {
  start=$(printf %s "$answer" | jq -Rrs '.[:1000]') # dash takes minutes to search 300 KB
  if is ''; then start="not $good: ${start%?'"HTTP 200, curl 0"'}"; else
    case $start in *'"detail":"'*) start=${start#*'"detail":"'}; start=${start%%'"}'*} ;; esac
  fi
  printf %s "$start"
}

# Sends a text, again and again until it is taken: a redirect does not take it
send() {
  text=$1 time=$(date '+%F %R %Z')
  while status=$(curl -gsS -m 10 -o /dev/null -w '%{http_code}' --data-raw "$text" "$topic"); [ "${status%??}" != 2 ]; do
    echo "The message was not taken: HTTP $status" >&2
    text=$(printf '%s\nWritten at %s' "$1" "$time")
    pause
  done
}

# Sends a message at each death and return of a reading
watch() {
  name=${url#*://}
  name=${name##*@} # without a password
  while :; do
    # One failed look may be a reboot, or a gap of Wi-Fi
    while look || { pause; look; }; do pause; done
    send "$name: $(reason)"
    until look; do pause; done
    send "$name is back${good:+: $good}"
  done
}

[ $# = 1 ] || { echo "Usage: messages.sh FILE. To remove the units of the version before, run: systemctl disable messages-BOARD@; systemctl stop 'messages-BOARD@*'" >&2; exit 2; }
lines=$(jq -nRr --arg grammar "^https?://\\S+(?<!/sensors)( $GRAMMAR)?$" '
  [inputs | ltrimstr("\ufeff") | sub("\\s+$"; "") | select(test("^(#|$)") | not)]
  | first((.[:1][] | select(contains(" "))), ((.[], .[1] // "") | select(test($grammar) | not)), null) as $invalid
  | if $invalid then "Expected an address for messages, then lines with single spaces, such as \"http://BOARD:5000/datasensor t < 30.5\", not \($invalid | sub("//.*@"; "//") | tojson)\n"
    | halt_error(2) else .[] end' <"$1") || exit
topic=$(printf %s "$lines" | sed 1q) readings=$(printf %s "$lines" | sed 1d)
send "Watching:
$(printf %s "$readings" | sed 's,//[^ ]*@,//,')"
while read -r url good; do watch & loops="$loops $!"; done <<END
$readings
END
# If one of them ends, for whatever reason, all end: the unit starts them again
while pause; do
  for loop in $loops; do kill -0 "$loop" || { echo "A line is no longer watched" >&2; exit 1; }; done
done
