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
serves() { # READING
  shows "$(printf '%q' "$1")" curl -fsS -m 5 http://board:5000/datasensor
}

# Repeats a request until it is answered with 503, for a reason
lacks() { # REASON
  shows "*\"status\":503,\"detail\":\"$1*" curl -sS -m 5 http://board:5000/datasensor
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
