# The words of the sections. What they expect is a pattern of the shell.
# shellcheck shell=bash

# When the section began: before, others may have logged the same
begin=$(date +@%s.%6N)

trap 'echo "Failed with $?: $BASH_COMMAND"' ERR
trap '[ $? = 0 ] || journalctl -q -u "datasensor*" | grep -v HTTP/1.1 | tail -n 20' EXIT

# Repeats a command until what it prints matches a pattern, for up to two minutes
shows() { # PATTERN COMMAND...
  local pattern=$1 answer end=$((SECONDS + 120))
  shift
  # shellcheck disable=SC2053 # a pattern
  until answer=$("$@" 2>&1) || true; [[ $answer == $pattern ]]; do
    ((SECONDS < end)) ||
      { printf '%s\nExpected:\n%s\nInstead:\n%s\n' "$*" "$pattern" "$answer"; return 1; }
    sleep 0.3
  done
}

# Runs a command once, which must fail. "! COMMAND" would never end a section.
fails() { # COMMAND...
  if "$@"; then echo "Succeeded: $*"; return 1; fi
}

# Repeats a request until it is answered with a reading
serves() { # READING [/NAME]
  shows "$(printf '%q' "$1")" curl -fsS -m 5 "http://board:5000/datasensor${2-}"
}

# Repeats a request until it is answered with 503, for a reason
lacks() { # REASON [/NAME]
  shows "*\"status\":503,\"detail\":\"$1*" curl -sS -m 5 "http://board:5000/datasensor${2-}"
}

# Waits until a message is in the log
logs() { # TEXT
  shows "*$1*" journalctl -q -u "datasensor*" -p notice --since "$begin"
}

settings() { # LINE...
  printf '%s\n' "$@" >/etc/default/datasensor
  systemctl restart datasensor
}

# Installs a program, whose text is the input
program() { # NAME
  install -m 755 /dev/stdin "/usr/local/bin/$1"
}

# Makes the input a drop-in
drop_in() { # UNIT
  install -m 644 -D /dev/stdin "/etc/systemd/system/$1.service.d/override.conf"
  systemctl daemon-reload
}

install_package() { # [FILE]
  apt-get -qq install -y --allow-downgrades "/packages/${1-datasensor_arm64.deb}" >/dev/null
}

# Makes a serial port that prints the lines of a program in Python
arduino() { # FIRST LINE, as bytes of Python
  cat >/root/arduino.py <<END
import os, pty, shutil, time
arduino, port = pty.openpty()
shutil.chown(os.ttyname(port), group="dialout")
os.chmod(os.ttyname(port), 0o660)
os.path.lexists("/dev/ttyACM0") and os.remove("/dev/ttyACM0")
os.symlink(os.ttyname(port), "/dev/ttyACM0")
os.write(arduino, $1)
while os.write(arduino, $2):
    time.sleep(1)
END
  systemd-run -q --unit=arduino python3 /root/arduino.py
}

# Runs a block of the guide as it stands
types() { # FIRST WORDS
  bash -e <(sed -n "/^$1/,/^\`\`\`/{/^\`\`\`/d;p}" /usr/share/doc/datasensor/src/board/README.md)
}

# Waits until nothing but these sensors is known
knows() { # NAMES, as an array of JSON
  shows "$(printf '%q' "$1")" sh -c 'curl -fsS -m 5 http://board:5000/sensors | jq -c "map(.name)"'
}

# Publishes messages every second, in which # is a number that grows
publish() { # TOPIC MESSAGE...
  local message n
  for ((n = 1; ; n++)); do
    for message in "${@:2}"; do mosquitto_pub -h board -t "$1" -m "${message/\#/$n}"; done
    sleep 1
  done
}

# Sends a request to the receiver
send() { # STATUS PATH FLAG...
  shows "$1" curl -gsS -m 5 -o /dev/null -w '%{http_code}' "http://board:5001$2" "${@:3}"
}
