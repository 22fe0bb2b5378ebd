#!/usr/bin/python3
"""Sends a message when a sensor falls silent or leaves its limits. Usage: messages.py FILE, as in

https://ntfy.sh/TOPIC
http://BOARD:5000
http://BOARD:5000/datasensor/freezer temperature_C < -15"""
import json
import re
import signal
import sys
import time
from collections import namedtuple
from posixpath import normpath
from subprocess import PIPE, Popen, run
from urllib.parse import quote, unquote

PAUSE_S = 60
GOOD, BAD, SILENT = "good", "bad", "silent"
LOOKS = {SILENT: (2, 5), BAD: (10, 15)}  # in a row, until it is told, and until it is back
HEARD_LOOKS = 10  # with another reading each: what passes by has fewer
MISSING_LOOKS = 60  # of what was heard: a board that restarts forgets the dead
MAX_SENSORS = 10_000  # of a board, which lists fewer
MAX_ROWS = 10  # of sensors, in what is told of a look
MAX_TEXT = 200  # characters of a name, a reading or a reason
MAX_ANSWER_BYTES = 2**20  # as a board may send without end
MAX_MESSAGE_BYTES = 4000  # ntfy makes a file of a longer one
match_address = re.compile(
    r"(https?://(?:[^\s/?#]*@)?)((?:[^\s/?#@:\[\]]+|\[[^\s/?#@\]]+\])(?::[0-9]+)?)"
    r"((?:/[^\s?#@]*)?(?:(?<=/datasensor)/[^\s?#]*)?)(?:[?#][^\s@]*)?"  # a name may have @
).fullmatch
is_number = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch
# What is asked, its board as messages show it, a sensor (None: all of them), and what is good
Line = namedtuple("Line", "address board name condition key sign limit", defaults=[""] * 4)


def clean(text):
    """Makes a text from outside part of a row, which it cannot end, reverse or fill."""
    text = text if isinstance(text, str) else ""
    return "".join(it if it.isprintable() else " " for it in text[:MAX_TEXT])


def parse_line(row):
    address, _, condition = row.partition(" ")
    parts = match_address(address)
    if not parts or not row.isprintable() or "  " in row:
        raise ValueError("write an address such as http://BOARD:5000, and nothing invisible")
    start, place, path = parts.groups()
    folder, name = re.fullmatch("(?s)(.*?)(?:/datasensor(?:/(.*))?)?", unquote(path)).groups("")
    base = normpath("/" + unquote(path).lstrip("/"))
    if not path or (path.endswith("/") and not name) or base.endswith("/sensors"):
        folder, name = base.removesuffix("/sensors").rstrip("/"), None
        address = f"{start}{place}{quote(folder)}/sensors"
    parts = re.fullmatch("(?:(?:(.+) )?([<>]|==) (.+))?", condition)
    key, sign, limit = parts.groups("") if parts else ("=", "", "")
    is_limit = is_number(limit) or (sign == "==" and limit[0] not in '"“„')
    if condition and (name is None or re.search('^["“„(.]|[<>=]', key) or not is_limit):
        raise ValueError("write a condition as in http://BOARD:5000/datasensor/NAME air.t < 30.5")
    board = clean(place.removesuffix(":5000") + folder)
    return Line(address, board, name, condition, key, sign, limit)


def parse_file(text):
    """Returns the address that takes messages, the lines, and why others are not watched."""
    topic, *rows = [it for it in map(str.strip, text.split("\n")) if it and it[0] != "#"] or [""]
    if not match_address(topic) or not topic.isprintable():
        raise ValueError("write the address that takes messages first")
    lines, wrong = [], []
    for row in rows:
        try:
            lines.append(parse_line(row))
        except ValueError as error:
            wrong.append(f"Not watched: {clean(re.sub('^.*@', '…@', row))}: {error}")
    return topic, lines, wrong


def find(value, key):
    """Returns what has a key, such as air.t. Its parts may have dots themselves."""
    if not key or not isinstance(value, dict):
        return [] if key else [value]
    names = [it for it in value if f"{key}.".startswith(f"{it}.")]
    return [found for it in names for found in find(value[it], key[len(it) + 1 :])]


def is_good(value, line):
    """Tells whether a value, whose numbers are floats, is as a line says."""
    if type(value) is float and is_number(line.limit):
        limit = float(line.limit)
        return {"<": value < limit, ">": value > limit, "==": value == limit}[line.sign]
    texts = (line.limit, {"true": True, "false": False}.get(line.limit, line.limit))
    return not line.sign or (line.sign == "==" and value in texts)


class Watched:
    """A reading, a board or its sensor: what was told of it, and the looks that differ."""

    def __init__(self, line, board=None, told=GOOD):
        self.line, self.board = line, board
        self.title = f"{clean(line.name)} on {line.board}" if line.name else line.board
        self.told, self.state, self.since = told, told, 0.0
        self.run = self.others = 0  # looks in a row that are alike, and not as told
        self.time = self.last = self.heard = self.missing = 0  # of a sensor, and in looks
        self.sensors = {}  # of a board

    def see(self, state, text, since):
        """Counts a look. Returns rows if it changes what is told."""
        if state != self.state:
            self.state, self.since, self.run = state, since, 0
        self.run += 1
        self.others = 0 if state == self.told else self.others + 1
        looks = self.others if state != SILENT and GOOD in (state, self.told) else self.run
        needed = LOOKS[state][0] if state != GOOD else LOOKS.get(self.told, (0, 0))[1]
        if state == self.told or (self.told and looks < needed):
            return []
        row = f"{self.title} is back" if self.told else self.title
        if state != GOOD:
            what = "silent" if state == SILENT else f"not {self.line.condition or 'one reading'}"
            start = time.strftime("%F %R %Z", time.localtime(self.since))
            row = f"{self.title}: {what} since {start}"
        self.told, self.others = state, 0
        return [f"{row}: {clean(text)}".rstrip(": ")]

    def find_news(self, status, value, text, now):
        """Returns rows on what a look changes."""
        if value is not None:
            values = find(value, self.line.key)
            are_good = values and all(is_good(it, self.line) for it in values)
            return self.see(GOOD if are_good else BAD, text, now)
        is_listed = status == "404" and self.board and self.line.name in self.board.sensors
        rows = self.see(SILENT, text, now)
        if rows and self.board and (status == "503" or is_listed):  # the board tells it
            self.told, rows = GOOD, []
        return rows


class Board(Watched):
    """A board and its sensors: those listed last come last."""

    def find_news(self, status, value, text, now):
        items = value if isinstance(value, list) else []
        listed = {clean(it.get("name")): it for it in items if isinstance(it, dict)}
        if not listed:
            return self.see(BAD if status == "503" else SILENT, text, now)
        rows = []
        for name, item in listed.items():
            state = GOOD if "reading" in item else SILENT
            told = None if self.told is None and state == SILENT else GOOD
            sensor = self.sensors.pop(name, None) or Watched(Line("", self.title, name), told=told)
            self.sensors[name] = sensor
            age = item.get("age")
            sensor.last = now - age if type(age) is float and 0 <= age < now else now
            sensor.heard += clean(item.get("time")) != sensor.time
            sensor.time = clean(item.get("time"))
            rows += sensor.see(state, "", sensor.last)
        for name, sensor in list(self.sensors.items()):
            sensor.missing = 0 if name in listed else sensor.missing + 1
            if sensor.missing and sensor.told == GOOD and sensor.heard < HEARD_LOOKS:
                del self.sensors[name]
            elif sensor.missing == MISSING_LOOKS and sensor.told == GOOD:
                sensor.told = None
                rows += sensor.see(SILENT, "no longer listed", sensor.last)
        self.sensors = dict([*self.sensors.items()][-MAX_SENSORS:])
        if len(rows) > MAX_ROWS:
            rows = [f"{len(rows)} sensors of {self.title}, such as:", *rows[:MAX_ROWS]]
        text = f"{len(listed)} sensor{'s' * (len(listed) > 1)}: {', '.join([*listed][:MAX_ROWS])}"
        return self.see(GOOD, text, now) + rows


def look(address):
    """Returns the HTTP status of an address, its JSON value, or None, and what explains it."""
    command = ["curl", "-qgsS", "-m", "5", "-w", "%{stderr}%{http_code}", "--url", address]
    with Popen(command, stdout=PIPE, stderr=PIPE) as curl:
        body = curl.stdout.read(MAX_ANSWER_BYTES).decode("utf-8-sig", "replace").strip()
        curl.stdout.close()  # of a longer answer, which is an error of curl then
        error = curl.stderr.read().decode(errors="replace")
    status, error = error[-3:], error[:-3].strip()
    try:
        value = json.loads(body, parse_int=float, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        value = None
    if status == "200" and not error and value is not None:
        return status, value, body
    detail = value.get("detail") if isinstance(value, dict) else None
    return status, None, detail or f"{error or f'no reading, HTTP {status}'}: {body}"


def send(topic, rows):
    """Sends rows, again and again until they are taken: a redirect does not take them."""
    text = "\n".join(map(str.strip, rows)).encode()[:MAX_MESSAGE_BYTES].decode(errors="ignore")
    command = ["curl", "-qgsS", "-m", "10", "-o", "/dev/null", "-w", "%{http_code}"]
    command += ["--data-binary", "@-", "--url", topic]
    late = text + time.strftime("\nWritten at %F %R %Z")
    while not (status := run(command, input=text.encode(), stdout=PIPE).stdout).startswith(b"2"):
        print(f"The message was not taken: HTTP {status.decode()}", file=sys.stderr)
        text = late
        time.sleep(PAUSE_S)


def main():
    try:
        with open(" ".join(sys.argv[1:]), encoding="utf-8-sig", errors="replace") as file:
            topic, lines, wrong = parse_file(file.read())
    except (OSError, ValueError) as error:
        print(__doc__, error, sep="\n\n", file=sys.stderr)
        sys.exit(2)
    boards = {line.board.lower(): Board(line, told=None) for line in lines if line.name is None}
    readings = [Watched(it, boards.get(it.board.lower())) for it in lines if it.name is not None]
    rows = [*wrong, "Watching:", *(f"{it.title} {it.line.condition}" for it in readings)]
    while True:
        for it in [*boards.values(), *readings]:
            if not it.board or it.board.state == GOOD:  # else it tells it
                rows += it.find_news(*look(it.line.address), time.time())
        if rows:
            send(topic, rows)
        rows = []
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback
    main()
