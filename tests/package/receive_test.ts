// The receiver, run as the sensor's unit runs it: bytes in; lines, answers and a log out.
// tests/board has what devices send.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Machine, testOnMachine } from "../helpers/machine.ts";
import type { Process } from "../helpers/process.ts";

const WORD = "0123456789ab";
const FILES = { "/etc/word": `${WORD}\n`, "/etc/short": "0123456789a\n" };
const RECEIVE = "/usr/lib/datasensor/receive /etc/word";
const test = await testOnMachine("bash", "/usr/bin/python3");

async function start(machine: Machine): Promise<Process> {
  const receiver = machine.startSensor(RECEIVE);
  return await receiver.untilReady(() =>
    machine.typeUntil("curl -sS http://localhost:5001", /^Another word/)
  );
}

/** Runs a script of bash, in which 3 is a connection, and $0 the bytes of printf's %b. */
async function connect(machine: Machine, script: string, bytes = "") {
  const open = "exec 3<>/dev/tcp/127.0.0.1/5001";
  const command = `bash -c '${open}; ${script}' '${bytes}'`;
  return (await machine.type(command)).stdout;
}

const get = (target: string) => `GET /${WORD}/${target} HTTP/1.1\n\n`;
const post = (body: string, lengths: unknown[] = [body.length]) =>
  `POST /${WORD}/k HTTP/1.1\n${
    lengths.map((it) => `content-length: ${it}\n`).join("")
  }\n${body}`;
const text = (size: number) => `{"t":"${"x".repeat(size)}","name":"k"}`;
const LINE = '{"t":1,"name":"k"}';

/** Requests, and what each prints: a line, or the status of its refusal. */
const ROWS: Record<string, [request: string, printed: string]> = {
  "HTTP/1.0": [`GET /${WORD}/k?t=1 HTTP/1.0\n\n`, LINE],
  "a whole address": [get("k?t=1").replace(" ", " http://b"), LINE],
  "another request behind it": [get("k?t=1") + get("x?t=2"), LINE],
  "a query beside a body": [post("t=1").replace("/k", "/k?t=2"), LINE],
  "a name of its own": [post('{"t":1,"name":"x"}'), LINE],
  "a name with a slash": [get("a/b%25/?t=1"), '{"t":1,"name":"a/b%"}'],
  "64 characters": [
    get(`${"%c3%bc".repeat(64)}?t=1`),
    `{"t":1,"name":"${"\\u00fc".repeat(64)}"}`,
  ],
  "65 characters": [get(`${"x".repeat(65)}?t=1`), "404"],
  "what looks like a line": [get("%22%7D%0A?t=1"), '{"t":1,"name":"\\"}\\n"}'],
  "only decimal numbers of a form": [
    get("k?t=1&a=+1&b=1e3&c=0x1&d=&e=1.&f=%d9%a3&g=-07.50&h=1%0a"),
    '{"t":1,"g":-7.5,"name":"k"}',
  ],
  "a body of 4 KB": [post(LINE.padEnd(4096)), LINE],
  "a body of 60 KB": [post(LINE.padEnd(60_000)), "413"],
  "a line of 2 KB": [post(text(2028)), text(2028)],
  "a line over 2 KB": [post(text(2029)), "413"],
  "a head over 4 KB": [get(`k?t=1&${"x".repeat(4096)}`), "413"],
  "no length": [post(LINE, []), "400"],
  "two lengths that are equal": [post("t=1", [3, 3]), LINE],
  "two lengths": [post("t=1", [3, 4]), "400"],
  "a length with a sign": [post("t=1", ["+3"]), "400"],
  "a length of 30 digits": [post("t=1", ["9".repeat(30)]), "413"],
  "another protocol": ["PRI * HTTP/2.0\n\n", "400"],
};

test("receive prints a line for each request, or says why not", async (step) => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  for (const [what, [request, printed]] of Object.entries(ROWS)) {
    await step.step(what, async () => {
      receiver.stdout = "";
      const bytes = request.replaceAll("\\", "\\\\").replaceAll("\n", "\\r\\n");
      const answer = await connect(
        machine,
        'printf %b "$0" >&3; cat <&3',
        bytes,
      );
      const [, status] = answer.match(/^HTTP\/1\.1 (\d+) [^]*\r\n\r\n[^]*$/) ??
        [];
      assertEquals(
        [status, receiver.stdout],
        printed.startsWith("{") ? ["204", `${printed}\n`] : [printed, ""],
      );
    });
  }
});

test("receive closes the oldest of 64 connections, and each after 10 s", async () => {
  await using machine = await Machine.start(FILES);
  await using receiver = await start(machine);
  const more =
    "for _ in {1..64}; do exec {last}<>/dev/tcp/127.0.0.1/5001; done";
  const slow =
    'while sleep 1; do printf x; done >&"$last" & cat <&"$last"; kill $!';
  const began = performance.now();
  const script = `${more}; cat <&3; echo $SECONDS; ${slow}`;
  assert(Number(await connect(machine, script)) < 9);
  assert(performance.now() - began > 9_900);
  await receiver.waitForMatch(/^receive: .*: The connection ended first/m);
});

/** Commands that must fail, and what they print. */
const FAILURES: Record<string, RegExp> = {
  "receive /etc/word1": /^receive: .*No such file .*'\/etc\/word1'\n$/,
  "receive /etc/short": /^receive: "\/etc\/short" .* `openssl rand -hex 8`/,
  "receive /etc/word": /^receive: .*in use/,
};

test("receive ends if it cannot listen, or nobody reads its lines", async () => {
  await using machine = await Machine.start(FILES);
  await using _receiver = await start(machine);
  for (const [command, message] of Object.entries(FAILURES)) {
    const { code, stdout, stderr } = await machine.type(
      `/usr/lib/datasensor/${command}`,
    );
    assertEquals([code, stdout], [1, ""], command);
    assertMatch(stderr, message);
  }
  const command = RECEIVE.replace("word", "word 5002");
  await using broken = machine.startSensor(`${command} | true`);
  const url = `http://localhost:5002/${WORD}/k?t=1`;
  await machine.typeUntil(`curl -sS '${url}'`, /\[(52|56)\]/);
  await broken.waitForMatch(/^receive: .*Broken pipe$/m);
});
