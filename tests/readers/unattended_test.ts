// What runs by itself: messages.sh, the page's line of cron, and a board that reads another.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Folder } from "../helpers/files.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { output, Process, shell } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

const PAGE = "src/readers/README.md";
const MESSAGES = "src/readers/messages.sh";

const READING =
  '{"t":21.0,"air":{"pm2.5":-2.5},"list":[31,{"t":21}],"door":"is open","on":false,"x":null,"nan":NaN}';
/** What is good, what is not, and lines that are invalid. */
const [GOOD, BAD, INVALID] = [
  "t < 21.1; t > 20.9; t == 21; air.pm2.5 < -2; list.1.t < 30; door == is open; on == false",
  't < 21; t > 21; t == 2; u < 30; x < 30; nan < 30; x == nul; door < 30; on < 30; list < 30; < 30; t"]|1 == 1',
  'http://B “t < 3”; http://B “t” < 3; http://B t < "3"; http://B t == "open"; http://B t < 30,5; http://B t = 3; http://B t <= 3; http://B t<3; http://B  t < 3; http://B\tt < 3; http://B\u00a0t < 3; http://B .t < 3; http://B (.t | numbers) < 3; http://B t == null; http://B t ==; http://B t; http://B\rhttp://C; t < 3; B:5000; http://B/sensors',
].map((texts) => texts.split("; "));

const reply = (body: BodyInit, status = 200) => new Response(body, { status });
const hang = (status?: number) => reply(new ReadableStream(), status);
const dead = () => reply('{"detail":"Why"}', 503);
/** What is no reading, and the reason in its message. */
const NO_READINGS: [answer: () => Response, reason: string][] = [
  [() => reply("21.5", 302), '21.5\n"HTTP 302, curl 0"'],
  [() => reply(""), '\n"HTTP 200, curl 0"'],
  [() => reply("1 2"), '1 2\n"HTTP 200, curl 0"'],
  [() => reply('"detail":"'.repeat(30_000)), '"detail":"'.repeat(99)],
  [() => Response.json("@".repeat(2e6)), `"${"@".repeat(999)}`],
];

const test = await testOnMachine("jq");

test("messages.sh sends what it watches, and one message at each death and return, until a line is not watched", async () => {
  const one = () => reply("1");
  const looks = [one, hang, one, dead, dead, dead, one];
  const refusals = [() => reply("", 302), () => hang(500)];
  const texts: string[] = [];
  const options = { port: 0, onListen() {} };
  await using server = Deno.serve(options, async (request) => {
    const [, name] = new URL(request.url).pathname.split("/");
    if (name && !texts.length) texts.push("A look before the start was taken");
    if (name === "a%20b") return (looks.shift() ?? dead)();
    if (name) return NO_READINGS[Number(name)]?.[0]() ?? reply(READING);
    const refuse = refusals.shift();
    if (refuse) return refuse();
    texts.push((await request.text()).replaceAll(place, "BOARD"));
    return reply("");
  });
  const place = `localhost:${server.addr.port}`;
  const watched = [
    "a%20b < 2",
    ...[...GOOD!, ...BAD!].map((condition) => `r ${condition}`),
    ...NO_READINGS.keys(),
  ].map((line) => `http://BOARD/${line}`);
  const lines = ["\ufeff# Mine", "http://BOARD", "", ...watched].join("\r\n");
  using folder = await Folder.create();
  await folder.write("bin/sleep", "#!/bin/sh\nexec /bin/sleep 0.1\n");
  await folder.write("file", lines.replaceAll("BOARD", `me:secret@${place}`));
  const env = { PATH: `${folder.path}/bin:${Deno.env.get("PATH")}` };
  const args = [MESSAGES, `${folder.path}/file`];
  await using script = new Process("sh", args, { env });
  const expected = [
    ...[": Why", " is back: < 2", ": Why"].map((text) => `a%20b${text}`),
    ...BAD!.map((condition) => `r: not ${condition}: ${READING}`),
    ...NO_READINGS.map(([, reason], index) => `${index}: ${reason}`),
  ].map((text) => `BOARD/${text}`);
  await waitFor("messages", () => texts.length > expected.length);
  const [watching, ...others] = texts;
  const [, list] = watching!.match(/^([^]*)\nWritten at 20\S+ ..:.. \S+$/)!;
  assertEquals(list!.split("\n"), ["Watching:", ...watched]);
  assertEquals(others.sort(), expected.sort());
  await shell(`pkill -KILL -o -P ${script.pid}`);
  assertEquals((await script.waitForEnd()).code, 1);
});

test("messages.sh ends with a line that is invalid, and an example", async () => {
  using folder = await Folder.create();
  const path = `${folder.path}/file`;
  const check = async (text: string, invalid: string) => {
    await folder.write("file", text);
    const { code, stderr } = await output("sh", [MESSAGES, path]);
    const end = ` t < 30.5", not ${JSON.stringify(invalid)}\n`;
    assertEquals([code, stderr.slice(-end.length)], [2, end]);
  };
  for (const line of INVALID!) await check(`http://A\n${line}\nhttp://B`, line);
  await check("http://A\nhttp://me:secret@B t<3", "http://B t<3");
  await check("http://A t < 3\nhttp://B", "http://A t < 3");
  await check("http://A\n# http://B", "");
});

test("sensors.sh has another board's number, and cron's line saves its day, until it dies", async () => {
  await using machine = await Machine.start();
  await using board = machine.startService("--stdin", "--json");
  await board.write("21.5\n");
  const read = "timeout 1 /usr/share/datasensor/sensors.sh | grep cellar";
  await machine.typeUntil(read, /^{"value":21.5,"name":"cellar"}\n/);
  const jq = block(PAGE, "to_entries").trim();
  await machine.typeUntil(`echo '{"k":{}}' | ${jq}`, /^{"name":"upstairs.k"}/);
  const [, cron] = block(PAGE, "0 0 * * *").match(/^0 0 \* \* \* (.*)$/m)!;
  const line = cron!.replaceAll("\\%", "%");
  const yesterday = 'BOARD-"$(TZ=UTC0 date -d yesterday +%F)".csv';
  const save = `export TZ=UTC0; ${line} && cat ${yesterday}`;
  await machine.typeUntil(save, /^time\s*\[0\]$/);
  await board.stop();
  await machine.typeUntil(read, /^\[1\]$/);
  await machine.typeUntil(`rm BOARD-*; ${save}; ls BOARD-*`, /^\[2\]$/);
});
