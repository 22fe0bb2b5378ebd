// What runs by itself: the page's messages and its line of cron, and a board that reads another.

import { assertEquals } from "@std/assert";
import { block } from "../helpers/documents.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import { programCommand, urlOf } from "../helpers/program.ts";

const PAGE = "src/readers/README.md";
const RUN = [Deno.execPath(), "run", "--allow-net"];
const FAST_SLEEP = "#!/bin/sh\nexec /bin/sleep 0.1\n";

const HANGING = "Deno.serve({ port: 8000 }, () => new Promise(() => {}))";
/** A receiver that refuses twice. */
const TAKING = `const refusals = [302, 403];
Deno.serve({ port: 8000 }, async (request) => new Response(null,
  { status: refusals.shift() ?? (console.log(await request.text()), 204) }))`;
/** A board that hangs at one look, and later fails for a reason of 135 KB. */
const FAILING = `let looks = 0;
Deno.serve({ port: 5000 }, () => ++looks === 2 ? new Promise(() => {})
  : Response.json("@".repeat(135_000), { status: looks > 3 ? 503 : 200 }))`;

const FILTER = "(.t | numbers) < 30";
/** What is answered, and what a message says of it, if there is one. */
const ANSWERS: [answer: string, message: string, filter?: string][] = [
  ['"false"', "", "true"],
  [`'{"t":21}'`, ""],
  ['"21.5", { status: 302 }', '21.5\n"HTTP 302, curl 0"'],
  ['"<html>"', '<html>\n"HTTP 200, curl 0"'],
  ['""', '\n"HTTP 200, curl 0"'],
  ['"1 2"', '1 2\n"HTTP 200, curl 0"'],
  [`'"detail":"'.repeat(30_000)`, '"detail":"'.repeat(9)],
  ["new ReadableStream({ pull: (it) => it.enqueue(AT) })", "@".repeat(1000)],
  [`'{"t":null}'`, `not ${FILTER}: {"t":null}\n`],
  [`'{"u":21}'`, `not ${FILTER}: {"u":21}\n`],
  [`'{"t":21}'`, 'not .t < 30,5: {"t":21}\n', ".t < 30,5"],
];
const LOOP = "sh src/readers/messages.sh";
const INVALID: [command: string, code: number, word: RegExp][] = [
  [`${LOOP} http://BOARD`, 2, /^Usage: messages.sh /],
  [`${LOOP} http://BOARD http://BOARD .t '<' 30`, 2, /^Usage: /],
  [`${LOOP} http://BOARD http://BOARD '.t <'`, 3, /compile error/],
  [`PATH= /bin/${LOOP} http://BOARD http://BOARD`, 127, /jq: not found/],
];

const test = await testOnMachine("jq", "openssl", "systemd-analyze");

test("the page's loop sends one message at each death and return, also once the receiver is back", async () => {
  await using machine = await Machine.start();
  await machine.folder.write("bin/sleep", FAST_SLEEP);
  const verify = "systemd-analyze verify messages-BOARD@datasensor.service";
  const install = block(PAGE, "messages.sh") + verify;
  const { stdout, stderr } = await machine.type(install);
  assertEquals(stderr, "");
  const unit = / (http:\S+)%I https:\/\/ntfy\.sh\/[0-9a-f]{16} \$\{FILTER\}$/m;
  const [, board] = stdout.match(unit)!;
  const loop = ["messages.sh", `${board}datasensor`, "http://localhost:8000"];
  const serve = (code: string) => machine.start(...RUN, urlOf(code));
  await using service = machine.startService("--stdin", "--max-age", "none");
  await using messages = machine.start(...loop);
  await messages.waitForMatch(/curl: \(7\)/); // the receiver is down
  await service.write("21.5\n");
  await using hanging = serve(HANGING);
  await messages.waitForMatch(/curl: \(28\)/);
  await hanging.stop();
  await using receiver = serve(TAKING);
  await receiver.waitForMatch(/ is back/);
  await service.stop();
  await receiver.waitForMatch(/: curl/);
  await using _failing = serve(FAILING);
  await receiver.waitForMatch(/: "@{999}$/m);
  const texts = receiver.stdout.match(/(?<=^BOARD:5000.datasensor).{1,9}/gm);
  const expected = ': The sen, is back,: curl: (, is back,: "@@@@@@';
  assertEquals(`${texts}`, expected);
  await machine.type(`topic=http://localhost:8000\n${block(PAGE, "curl -d")}`);
  await receiver.waitForMatch(/^BOARD can send messages$/m);
});

test("messages.sh takes one JSON text with 200 for a reading, if a filter says true once", async () => {
  await using machine = await Machine.start();
  await machine.folder.write("bin/sleep", FAST_SLEEP);
  const answers = ANSWERS.map(([answer]) => `() => new Response(${answer})`);
  const code = `const answers = [${answers}], AT = new Uint8Array(999).fill(64);
    Deno.serve({ port: 5000 }, ({ url }) => answers[url.split("/")[3]]());`;
  await using _board = machine.start(...RUN, urlOf(code));
  await using receiver = machine.start(...RUN, urlOf(TAKING));
  await receiver.waitForMatch(/Listening/);
  const loops = ANSWERS.map(([, , filter = FILTER], number) =>
    `${LOOP} http://me:secret@localhost:5000/${number} http://localhost:8000 '${filter}' &`
  );
  await using _loops = machine.start("sh", "-c", `${loops.join("\n")} wait`);
  for (const [number, [, message]] of ANSWERS.entries()) {
    const text = RegExp.escape(`localhost:5000/${number}: ${message}`);
    if (message) await receiver.waitForMatch(RegExp(`^${text}`, "m"));
  }
  assertEquals(receiver.stdout.match(/^localhost:5000.[01]:/m), null);
});

test("messages.sh ends with a word if it cannot work", async () => {
  await using machine = await Machine.start();
  for (const [command, expected, word] of INVALID) {
    const { code, stderr } = await machine.type(command);
    assertEquals([code, word.test(stderr)], [expected, true], command + stderr);
  }
});

test("sensors.sh has another board's number, and cron's line saves its day, until it dies", async () => {
  const files = { "/usr/local/bin/greenhouse": "#!/bin/sh\necho '{\"t\":9}'" };
  await using machine = await Machine.start(files);
  await machine.folder.write("bin/sleep", FAST_SLEEP);
  const flags = ["--json", "--key", "name", "--max-age", "3", "--port", "5001"];
  const service = programCommand(["--stdin", ...flags]).flat();
  const script = '/usr/share/datasensor/sensors.sh | "$@"';
  await using _board = machine.start("sh", "-c", script, "sh", ...service);
  await using other = machine.startService("--stdin", "--json");
  await other.write("21.5\n");
  const read = "curl -sS http://BOARD:5001/datasensor";
  const cellar = '^{"cellar":{"value":21.5,"name":"cellar"},';
  const rest = '"greenhouse":{"name":"greenhouse","t":9}}\\[0\\]$';
  await machine.typeUntil(read, RegExp(cellar + rest));
  const jq = block(PAGE, "to_entries").trim();
  await machine.typeUntil(`echo '{"k":{}}' | ${jq}`, /^{"name":"upstairs.k"}/);
  const [, cron] = block(PAGE, "0 0 * * *").match(/^0 0 \* \* \* (.*)$/m)!;
  const yesterday = 'BOARD-"$(TZ=UTC0 date -d yesterday +%F)".csv';
  const save = `export TZ=UTC0; ${
    cron!.replaceAll("\\%", "%")
  } && cat ${yesterday}`;
  await machine.typeUntil(save, /^time\s*\[0\]$/);
  await other.stop();
  await machine.typeUntil(read, RegExp(`^{${rest}`));
  await machine.typeUntil(`rm BOARD-*; ${save}; ls BOARD-*`, /^\[2\]$/);
});
