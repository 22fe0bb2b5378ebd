// What runs by itself: messages.py, the page's line of cron, and a board that reads another.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Folder } from "../helpers/files.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

const PAGE = "src/readers/README.md";
const MESSAGES = "src/readers/messages.py";
const PYTHON = "/usr/bin/python3";

/** What is good, what is not, and lines that are invalid. */
const [GOOD, BAD, INVALID] = [
  "t < 21.1; t > 20.9; t == 21; air.pm2.5 < -2; Package id 0.temp1_input < 80; n == 1.83; door == is open; on == false",
  "t < 21; t > 21; t == 2; u < 30; x < 30; x == null; n < 30; door < 30; on < 30; on == 0; air < 30; air.x < 9; list < 30; list.0 < 99; < 30",
  'http://B/datasensor “t < 3”; http://B/datasensor “t” < 3; http://B/datasensor t < "3"; http://B/datasensor t == "open"; http://B/datasensor t < 30,5; http://B/datasensor t = 3; http://B/datasensor t <= 3; http://B/datasensor t<3; http://B/datasensor  t < 3; http://B/datasensor\tt < 3; http://B/datasensor\u00a0t < 3; http://B/datasensor .t < 3; http://B/datasensor (.t) < 3; http://B/datasensor t ==; http://B/datasensor t; t < 3; B:5000; http:///B; http://B/datasensor t < 3 and u < 4; http://B t < 3; http://B/sensors t < 3; http:/me:secret@B t < 3; http://me:secret@B t<3; http://me:sec ret@B; http://me:1/secret@B; http://B\u200b/datasensor; --help',
].map((texts) => texts.split("; "));
/** Lines, what is asked for each, and what messages call it. */
const ASKED = `
http://BOARD:5000 | http://BOARD:5000/sensors | BOARD
https://me:p@w@home/a%20b/ | https://me:p@w@home/a%20b/sensors | home/a b
http://B/%73ensors?a | http://B/sensors | B
http://B/k/../sensors#a | http://B/sensors | B
http://[::1]:80/datasensor?a t < 3 | http://[::1]:80/datasensor?a | [::1]:80
http://me@B/datasensor/a@b/100%25/ | http://me@B/datasensor/a@b/100%25/ | a@b/100%/ on B`;
/** Looks, which are good, bad or silent, and what is told at each: Good, Bad or Silent. */
const SERIES = `
ss....s..... | -S---------G
bbbbbbbbb.bbbbbbbbb | -------------------
bbbbbbbbbbss | ---------B-S
bbbbbbbbbb..............b............... | ---------B-----------------------------G
ssbbbbbbbbbb | -S---------B
ssbb.b. | -S----G
bsbsbsbsbsb | ----------B
bbbbbbb5bb5bb5.............. | ---------B-----------------G
bbbbbbbbbb555bbbbbbbbbb | ---------B------------B`;
/** How often a board lists which sensors, - for silent ones, or answers with a status. */
const BOARDS = `
1 a, 1 -a, 1 a, 2 -a, 4 a, 1 -a, 5 a | B: 1 sensor: a | a on B: silent since 1 | a on B is back
10 a b c, 59 a c, 1 a b c, 59 a c, 1 a b c, 60 a b, 4 a b c | B: 3 sensors: a, b, c | c on B: silent since 1: no longer listed
1 a, 9 a b car, 9 a car, 1 a -d, 99 a | B: 1 sensor: a
1 -x\u202e -y, 2 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 | B: 2 sensors: x , y; x  on B: silent since 1; y on B: silent since 1 | 11 sensors of B, such as:; 1 on B: silent since 1; 2 on B: silent since 1; 3 on B: silent since 1; 4 on B: silent since 1; 5 on B: silent since 1; 6 on B: silent since 1; 7 on B: silent since 1; 8 on B: silent since 1; 9 on B: silent since 1; 10 on B: silent since 1
1 a b, 2 a -b, 99 a, 5 a b | B: 2 sensors: a, b | b on B: silent since 1 | b on B is back
1 a, 9 503, 1 a, 10 503, 15 a | B: 1 sensor: a | B: not one reading since 14: Why | B is back: 1 sensor: a
1 a, 1 404, 1 a, 2 404, 5 a | B: 1 sensor: a | B: silent since 6: Why | B is back: 1 sensor: a`;
const reply = (body: BodyInit, status = 200) => new Response(body, { status });
/** What is no reading, and the reason in its message. */
const NO_READINGS: [answer: () => Response, reason: string][] = [
  [() => Response.redirect("http://localhost:0"), "no reading, HTTP 302"],
  [() => reply('{"detail":""}', 503), 'no reading, HTTP 503: {"detail":""}'],
  [() => reply('{"detail":"Not\\n\u202e\\"it\\""}', 503), 'Not  "it"'],
  [() => reply(""), "no reading, HTTP 200"],
  [() => reply("[".repeat(5e5)), `no reading, HTTP 200: ${"[".repeat(178)}`],
  [() => reply("1".repeat(2e6)), "curl: (23)"],
  [() => reply(new ReadableStream()), "curl: (28)"],
];

const test = await testOnMachine("/usr/bin/curl", PYTHON);

/** Runs Python with messages.py as `m`, whose fourth pause ends it. */
async function runPython(code: string, args: string[]): Promise<string> {
  const start = `import json, sys, messages as m
m.time.sleep = lambda _, left=[1, 2, 3]: left.pop() if left else sys.exit()\n`;
  const words = ["-Bc", start + code, ...args];
  const ended = await output(PYTHON, words, { cwd: "src/readers" });
  assertEquals(ended.code, 0, ended.stderr);
  return ended.stdout;
}

/** Checks what `f` of Python returns for the first text of each row: the others. */
async function check(f: string, rows: string[]): Promise<void> {
  const keys = rows.map((row) => row.split(" | ")[0]!);
  const code = `${f}\nfor it in sys.argv[1:]: print(it, "|", f(it))`;
  const printed = await runPython(code, keys);
  assertEquals(printed.trimEnd().split("\n"), rows);
}

test("messages.py reads lines, refuses invalid ones, and judges readings", async () => {
  const ask = `def f(it):
    return m.parse_line(it).address + " | " + m.Watched(m.parse_line(it)).title`;
  await check(ask, ASKED.trim().split("\n"));
  const parse = `def f(it):
    topic, [line], [wrong] = m.parse_file("http://A\\n" + it + "\\nhttp://B")
    try: return m.parse_file(it)
    except ValueError: return topic, line.board, "secret" in wrong`;
  await check(parse, INVALID!.map((it) => `${it} | ('http://A', 'B', False)`));
  const judge = `def f(it):
    watched = m.Watched(m.parse_line("http://B/datasensor " + it))
    watched.find_news("200", json.loads('{"t":21.0,"air.x":1,"air":{"pm2.5":-2.5,"x":9},"Package id 0":{"temp1_input":48},"n":"1.83","door":"is open","on":false,"x":null,"list":[31]}', parse_int=float), "", 0)
    return watched.state`;
  await check(judge, GOOD!.map((condition) => `${condition} | good`));
  await check(judge, BAD!.map((condition) => `${condition} | bad`));
});

test("messages.py tells after as many looks as a state needs", async () => {
  const tell = `def f(it, states={".": m.GOOD, "b": m.BAD, "s": m.SILENT}):
    watched = m.Watched(m.parse_line("http://B"), m.Board(m.parse_line("http://B")))
    return "".join((watched.find_news("503", None, "", 0) if look == "5" else watched.see(states[look], "", 0)) and watched.told[0].upper() or "-" for look in it)`;
  await check(tell, SERIES.trim().split("\n"));
  const list = `def f(it):
    board, told = m.Board(m.parse_line("http://B"), told=None), []
    m.time.localtime, m.time.strftime, m.MAX_SENSORS = round, lambda _, since: str(since), 12
    for now, names in enumerate((look.split()[1:] for look in it.split(", ") for _ in range(int(look.split()[0]))), 3):
        items = [{"name": it.strip("-"), "time": it == "car" or str(now), "age": now - 1.0, "reading" if it[0] != "-" else "": 1} for it in names]
        answer = (names[0], None) if names[0].isdigit() else ("200", items)
        told += ["; ".join(board.find_news(*answer, "Why", now))]
    return " | ".join(filter(None, told)) if len(board.sensors) < 13 else "No bound"`;
  await check(list, BOARDS.trim().split("\n"));
  const send = `def f(it):
    m.run = lambda *_, input, **__: m.namedtuple("R", "stdout")(b"200" if len(input) == 3999 else b"500")
    return m.send("", [it * 9999])`;
  await check(send, ["äx | None"]);
});

test("messages.py sends what it watches, and what changes, until it is taken", async () => {
  const texts: string[] = [];
  const statuses = [302, 500]; // of what takes messages, and then 200
  await using server = Deno.serve({ port: 0, onListen() {} }, async (it) => {
    const [, name, more] = new URL(it.url).pathname.split("/");
    if (/k.sensors/.test(it.url)) return Response.json([{ name: "a", age: 9 }]);
    if (more) return reply("", /[ab]$/.test(it.url) ? 404 : 503);
    if (name) return NO_READINGS[Number(name)]![0]();
    texts.push((await it.text()).replaceAll(place, "BOARD"));
    return reply("", statuses.shift());
  });
  const place = `localhost:${server.addr.port}`;
  using folder = await Folder.create();
  const ofBoards = ["k", "k/a", "k/b", "d/b", "k t<3"]
    .map((it) => it.replace(/^./, "$&/datasensor"));
  const paths = ["", ...NO_READINGS.keys(), ...ofBoards, "d/", "k/"];
  const rows = paths.map((path) => `http://me:secret@${place}/${path}`);
  await folder.write("file", ["\ufeff# Mine", "", ...rows].join("\r\n"));
  await runPython("m.main()", [`${folder.path}/file`]);
  const told = texts.join("\n---\n")
    .replace(/(since|at) \S+ ..:.. [^\s:]+/g, "$1 T")
    .replace(/(curl: \(\d+\)|t<3:).*/g, "$1");
  const titles = NO_READINGS.map((_, index) => `BOARD/${index}\n`).join("");
  const first =
    `Not watched: …@BOARD/k/datasensor t<3:\nWatching:\n${titles}BOARD/k\na on BOARD/k\nb on BOARD/k\nb on BOARD/d\nBOARD/d: not one reading since T: no reading, HTTP 503\nBOARD/k: 1 sensor: a\na on BOARD/k: silent since T`;
  const late = `${first}\nWritten at T`;
  const news =
    NO_READINGS.map(([, reason], index) =>
      `BOARD/${index}: silent since T: ${reason}\n`
    ).join("") + "b on BOARD/k: silent since T: no reading, HTTP 404";
  assertEquals(told, [first, late, late, news].join("\n---\n"));
});

test("messages.py ends with 2 without an address for messages, and by Ctrl+C", async () => {
  const { code, stderr } = await output(PYTHON, [MESSAGES, "/dev/null"]);
  assertEquals([code, /write .* first\n$/.test(stderr)], [2, true], stderr);
  using folder = await Folder.create();
  await folder.write("file", "http://me:secret@localhost:0");
  await using script = new Process(PYTHON, [MESSAGES, `${folder.path}/file`]);
  await script.waitForMatch(/The message was not taken: HTTP 000\n/);
  await script.stop("SIGINT");
  assertEquals(/secret|Traceback/.test(script.stderr), false, script.stderr);
});

test("sensors.sh has another board's number, and cron's line saves its day, until it dies", async () => {
  await using machine = await Machine.start();
  await using board = machine.startService("--stdin", "--json");
  await board.write("21.5\n");
  const script = "/usr/share/datasensor/sensors.sh";
  await using sensors = machine.start(script);
  await sensors.waitForMatch(/^{"value":21.5,"name":"cellar"}$/m);
  const jq = block(PAGE, "to_entries").trim();
  await machine.typeUntil(`echo '{"k":{}}' | ${jq}`, /^{"name":"upstairs.k"}/);
  const [, cron] = block(PAGE, "0 0 * * *").match(/^0 0 \* \* \* (.*)$/m)!;
  const line = cron!.replaceAll("\\%", "%");
  const yesterday = 'BOARD-"$(TZ=UTC0 date -d yesterday +%F)".csv';
  const save = `export TZ=UTC0; ${line} && cat ${yesterday}`;
  await machine.typeUntil(save, /^time\s*\[0\]$/);
  await board.stop();
  await using silent = machine.start(script);
  const marks = () => silent.stdout === "\x18\n".repeat(7); // each sensor has ended
  await waitFor("seven marks", marks);
  await machine.typeUntil(`rm BOARD-*; ${save}; ls BOARD-*`, /^\[2\]$/);
});
