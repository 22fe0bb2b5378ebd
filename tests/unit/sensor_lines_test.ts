// What a sensor prints, and what the program serves and logs of it.

import { assertEquals } from "@std/assert";
import { type Pause, Service } from "./service.ts";
import type { Chunk } from "./test_input.ts";

const LONGEST = "x".repeat(64 * 1024);
const EIO = new Error("EIO");
const such = (problem: string, start: string, remedy: string) =>
  `WARN Dropping lines ${problem}, such as "${start}". ${remedy}`;
const PRINT_JSON =
  "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, 0.5 instead of .5 or 00.5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text";
const notJson = (start: string) => such("that are not JSON", start, PRINT_JSON);
const PRINT_ITS_END = String
  .raw`If this is a whole reading, print a line feed after it: curl URL && echo, or printf '21.5\n' (in the settings file '21.5\\n'). If not, the program stopped while printing it`;
const PAUSED = such("that pause before they end", "2", PRINT_ITS_END);
const unfinished = (start: string) =>
  such("without a line feed", start, PRINT_ITS_END);
const PRINT_SHORTER = "Print shorter lines, each with a line feed at its end";
const LONG = "x".repeat(80);
const TOO_LONG = such("longer than 65536 bytes", LONG, PRINT_SHORTER);
const PRINT_NOTHING = "Print nothing while there is no value";
const NULL = such("that have no value but null", "[null]", PRINT_NOTHING);
const PRINT_NAMES =
  "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false. Or omit --key if there is only one sensor";
const NO_NAME = such("without a key that --key names", "3", PRINT_NAMES);
const JSON_HINT =
  "WARN Lines are JSON objects, but --json is not set: each is served as one string, without its numbers";
const ODD = "\ufeff\x1b\x9b31m\x7f°".padEnd(80, "x"); // what is shown is escaped
const SHOWN = String.raw`\ufeff\u001b\u009b31m\u007f\u00b0` + "x".repeat(72);
const SO_FAR = " so far; the log shows one";
const ENDED = "WARN The input has ended: no new readings will arrive";
const FAILED =
  "WARN The input has failed (Error: EIO): no new readings will arrive";
const NONE = "503 The sensor has sent no reading";
const INVALID = "503 The sensor has sent only invalid lines";
const END = ", and the input has ended";
const IN_JOURNAL = "its messages in the journal may say why";
const BUFFERED =
  "in a pipe, it may buffer its output, or its line may lack a line feed at the end";

/** Flags and what is printed, the answer, and what is logged. */
type Row = [
  flags: string,
  (Chunk | Pause)[],
  answer: string,
  ...messages: string[],
];

const INPUTS: Row[] = [
  ["", ["21.5\n", "2", "2.\r\n23"], '200 "22."'],
  ["", ["21.5\n", "\r\n \t\r\n\x18\n\n"], '200 "21.5"'],
  ["", ["  21\r.5 °C \n"], String.raw`200 "  21\r.5 °C "`],
  ["", ['{"t"\n{"t":2}\n', "{}\n"], '200 "{}"', JSON_HINT],
  ["", ["1\n", `${LONGEST}x\n`, 400], '200 "1"', TOO_LONG],
  ["", [`${LONGEST}\r\n`, 400], `200 "${LONGEST}"`],
  ["", ["1\n2", 906, "3\n"], '200 "1"', PAUSED],
  ["", ["1\n2", 906, "3", null], '200 "1"', PAUSED, ENDED], // is dropped once
  ["", ["1\n\r", 906, "2\n"], String.raw`200 "\r2"`], // some end lines with LF CR
  ["", ["1\n2", 905, "3\n"], '200 "23"'], // after its rest of 5 ms, it has waited for 900
  ["", ["1\n2", "\x18\n"], '200 "1"', unfinished("2")],
  ["", ["2\x181\n"], String.raw`200 "2\u00181"`], // only the end of a line tells
  ["", ["1\n2", null], '200 "1"', unfinished("2"), ENDED],
  ["", ["21\n", EIO], '200 "21"', FAILED],
  ["--json", ["2\n[null]\n"], "200 2", NULL],
  ["--json --key id", ['{"id":1}\n3\n'], '200 {"1":{"id":1}}', NO_NAME],
  // What is dropped of a line is not taken for the start of a text
  ["--json", [`${LONGEST}{\n 1\n`, 400], "200  1", TOO_LONG],
  ["--json", ["2,\x18\n", " 3\n"], "200  3", unfinished("2,")],
  ["--json", ["2"], `${NONE} so far; ${BUFFERED}`],
  ["--json", ["x\n"], `${INVALID}${SO_FAR}`, notJson("x")],
  ["--json", [`${ODD}y\n`], `${INVALID}${SO_FAR}`, notJson(SHOWN)],
  ["--json --journal", ["2"], `${NONE} so far; ${IN_JOURNAL}`],
  ["--json", [null], `${NONE}${END}`, ENDED],
  ["--json", [EIO], `${NONE}, and the input has failed`, FAILED],
  ["--json", ["x\n", null], `${INVALID}${END}`, notJson("x"), ENDED],
];

for (const [flags, chunks, answer, ...messages] of INPUTS) {
  const shown = Deno.inspect(chunks, { strAbbreviateSize: 30 });
  const start = answer.slice(0, 80);
  Deno.test(`${shown} is answered with ${start}${flags && ", with "}${flags}`, async () => {
    const service = new Service(`--stdin ${flags}`);
    await service.send(...chunks, 300);
    assertEquals(await service.ask(), answer);
    assertEquals(service.messages, messages);
    await service.stop();
  });
}

Deno.test("the same problem is logged once a minute", async () => {
  const service = new Service("--stdin --json");
  await service.send("a\n", 10, "1\nb\n2\nc\n\n", 59_980, "d\n", 10, "e\nf\n");
  assertEquals(await service.ask(), "200 2");
  await service.stop();
  assertEquals(service.messages, [notJson("a"), notJson("e")]);
});

Deno.test("the end of an input that comes with the signal to stop is not logged", async () => {
  for (const end of [null, EIO]) {
    const service = new Service("--stdin");
    await service.send(end, 199); // Ctrl+C ends a sensor in the same pipeline first
    await service.stop();
    await service.pass(400_000); // in which it does not miss a reading either
    assertEquals(service.messages, []);
  }
});

const AGAIN = "WARN Readings arrive again";
const none = (problem: string) => `WARN No current reading: ${problem}`;
const age = (seconds: number) =>
  `The last reading is ${seconds} s old: the limit is 1.5 s (--max-age)`;
const fellSilent = (name: string, count: number) =>
  `WARN No longer serving sensors that are silent for 1.5 s (--max-age), such as "${name}" (count: ${count}). If it logs no reason, its program may hang (restart datasensor), or its battery is empty`;
const back = (name: string, count: number) =>
  `WARN Sensors send readings again, such as "${name}" (count: ${count})`;

/**
 * Watches sensors for some seconds. In each, those send a reading that a function names.
 * Returns each warning, after the second before it.
 */
async function watch(
  seconds: number,
  send: (second: number) => string[],
  { flags = "--json --key id", text = "" } = {},
): Promise<[second: number, warning: string][]> {
  const service = new Service(`--stdin ${flags} --max-age 1.5`);
  await service.pass(0);
  const start = service.monotonicTime();
  const warnings: [number, string][] = [];
  for (let second = 0; second <= seconds; second++) {
    const lines = send(second).map((id) => JSON.stringify({ id, text }));
    if (lines.length > 0) await service.send(`${lines.join("\n")}\n`);
    await service.pass(start + 1000 * (second + 1) - service.monotonicTime());
    // What is logged at the end of a second is written in the next one
    const messages = service.messages.slice(warnings.length);
    for (const message of messages) warnings.push([second - 1, message]);
  }
  await service.stop();
  return warnings;
}

Deno.test("it is logged that no reading has come since the start, that one comes, and the next problem a minute later", async () => {
  const silent = `The sensor has sent no reading so far; ${BUFFERED}`;
  const send = (second: number) => [4, 63].includes(second) ? ["a"] : [];
  const warnings = await watch(64, send, { flags: "--json" });
  assertEquals(warnings, [
    [1, none(silent)],
    [4, AGAIN],
    [61, none(age(58))],
    [63, AGAIN],
  ]);
});

Deno.test("it is logged once a minute which sensors fall silent, and which are back, but a sensor that was heard once is not missed", async () => {
  const warnings = await watch(70, (second) => {
    const isHealthy = second < 5 || second > 8 && second < 63;
    return [
      "healthy",
      // Back at 66, but silent again before that may be logged
      ...isHealthy || second === 66 ? ["kitchen"] : [],
      ...second < 6 || second > 9 ? ["attic", "b"] : [], // back within the minute
      ...second % 10 === 0 ? [`car ${second}`] : [], // is not missed
    ];
  });
  assertEquals(warnings, [
    [5, fellSilent("kitchen", 1)],
    [9, back("kitchen", 1)],
    [65, fellSilent("kitchen", 1)],
  ]);
});

Deno.test("it is logged once that sensors send more rarely than the maximum age", async () => {
  const warnings = await watch(200, (second) => [
    "healthy",
    `car ${second}`,
    ...second % 5 === 0 ? ["attic"] : [],
  ]);
  assertEquals(warnings, [[
    5,
    'WARN Sensors send more rarely than every 1.5 s (--max-age), such as "attic". Unless they are visitors, such as passing cars, set --max-age to two or three times their interval',
  ]]);
});

Deno.test("all names since the last minute are logged, and at once that no sensor is left", async () => {
  const warnings = await watch(63, (second) => [
    ...second < 2 ? ["a"] : [],
    ...second < 3 ? ["\x9b"] : [],
    ...second < 4 ? ["c"] : [],
  ]);
  assertEquals(warnings, [
    [2, fellSilent("a", 1)],
    [4, none(age(2))],
    [62, fellSilent(String.raw`\u009b`, 2)], // a control character
  ]);
});

Deno.test("sensors that are evicted are logged, but not that they are silent", async () => {
  const text = "1".repeat(40_000);
  const warnings = await watch(5, (second) => [`\x9b${second % 3}`], { text });
  const problem =
    "WARN Forgetting the sensors that have been silent longest, since all lines together exceed 64 KiB";
  assertEquals(warnings, [[1, String.raw`${problem}, such as "\u009b0"`]]);
});
