// Readings: the lines of an input, their limits and their age.

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_reader.ts";
import { InputSensor } from "../../../src/sensor/sensor.ts";
import { waitFor } from "../../helpers/wait.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const ENDED = "The input has ended: no new readings will arrive";
const EIO = new Error("EIO");
const FAILED = ENDED.replace("ended", "failed (Error: EIO)");
const such = (problem: string, start: string) =>
  `Dropping lines ${problem}, such as ${JSON.stringify(start)}`;
const notJson = (start: string) => such("that are not JSON", start);
const PAUSED = such("that pause before they end", "2");
const CUT_OFF = such("without a line feed", "2");
const TOO_LONG = such("longer than 65536 bytes", "x".repeat(80));
const LONGEST = "x".repeat(MAX_LINE_BYTES);
const ENDLESS = LONGEST.repeat(4); // so far
const { fromHex } = Uint8Array;

/** What a read of the input returns; null is its end, a number a pause in ms. */
type Chunk = string | Uint8Array | Error | number | null;

/** A sensor with a fake input and fake clocks. */
class TestSensor {
  readonly warnings: string[] = [];
  readonly read: InputSensor["read"];
  now = 1000;
  date = START;
  readonly #chunks: Chunk[] = [];
  #wake: (() => void) | undefined; // while a read waits

  constructor({ json = false, maxAgeSeconds = Infinity } = {}) {
    const logger = { warn: (line: string) => this.warnings.push(line) };
    ({ read: this.read } = new InputSensor(
      { read: (bytes) => this.#read(bytes) },
      { json, maxAgeSeconds },
      logger as unknown as Logger,
      () => this.now,
      () => this.date,
    ));
  }

  async #read(bytes: Uint8Array): Promise<number | null> {
    if (this.#chunks.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    let chunk = this.#chunks.shift()!;
    if (typeof chunk === "number") {
      this.pass(chunk);
      return await this.#read(bytes);
    }
    if (chunk instanceof Error) throw chunk;
    if (chunk === null) return null;
    if (typeof chunk === "string") chunk = new TextEncoder().encode(chunk);
    const count = Math.min(chunk.length, bytes.length);
    bytes.set(chunk.subarray(0, count));
    if (count < chunk.length) this.#chunks.unshift(chunk.subarray(count));
    return count;
  }

  /** Adds to the input, and waits until all of it is read. */
  async send(...chunks: Chunk[]): Promise<void> {
    this.#chunks.push(...chunks);
    this.#wake?.();
    this.#wake = undefined;
    await waitFor(() =>
      this.#wake !== undefined ||
      this.warnings.some((warning) => warning.startsWith("The input"))
    );
  }

  pass(milliseconds: number): void {
    this.now += milliseconds;
    this.date += milliseconds;
  }

  /** Asserts the text to serve, and all warnings so far. */
  assert(json: string | undefined, ...warnings: string[]): void {
    const reading = this.read();
    const served = typeof reading === "string" ? undefined : reading.json;
    assertEquals([served, this.warnings], [json, warnings]);
  }
}

/** Inputs, with the readings and warnings that they lead to. */
const INPUTS: [
  verb: string,
  chunks: Chunk[],
  text: string,
  ...warnings: string[],
][] = [
  ["reads the last of two lines", ["21.5\n22\n"], "22"],
  ["waits for the end of the next line", ["21.5\n22"], "21.5"],
  ["skips blank lines", ["\n21.5\n", "\r\n \t\r\n\n"], "21.5"],
  ["keeps a line of one visible character", ["21.5\n!\n"], "!"],
  ["keeps spaces", ["  21\r.5 °C \n"], "  21\r.5 °C "],
  ["escapes quotes", ['{"a": "b"}\n'], '{"a": "b"}'],
  ["replaces invalid UTF-8", [fromHex("61ffc30a")], "a\ufffd\ufffd"],
  ["joins the bytes of a character", [fromHex("c2"), fromHex("b00a")], "°"],
  ["keeps a byte order mark", ["\ufeff21.5\n"], "\ufeff21.5"],
  ["reads the longest line", [LONGEST, "\n"], LONGEST],
  ["reads the longest line with CRLF", [`${LONGEST}\r`, "\n"], LONGEST],
  ["drops an overlong line", ["2\n", LONGEST, "x\n"], "2", TOO_LONG],
  ["drops an overlong CRLF line", ["2\n", LONGEST, "x\r\n"], "2", TOO_LONG],
  ["drops an overlong line early", ["2\n", LONGEST, "xx"], "2", TOO_LONG],
  ["drops all of an endless line", ["2\n", ENDLESS, "3"], "2", TOO_LONG],
  ["reads the line after an endless one", [ENDLESS, "3\n2\n3"], "2", TOO_LONG],
  ["joins what comes within a second", ["2", 800, "1", 800, ".5\n"], "21.5"],
  ["drops a line that pauses", ["1\n2", 1000, "3", 1000, "4\n"], "1", PAUSED],
  ["reads the line after one that pauses", ["2", 1000, "3\n1\n"], "1", PAUSED],
  ["waits forever between lines", ["21.5\n", 1e9, "22\n"], "22"],
  ["keeps its reading if the input ends", ["21\n", null], "21", ENDED],
  ["keeps its reading if the input fails", ["21\n", EIO], "21", FAILED],
  ["drops a line without an end", ["1\n2", null], "1", CUT_OFF, ENDED],
  ["drops an endless last line", ["1\n", ENDLESS, null], "1", TOO_LONG, ENDED],
];

for (const [verb, chunks, text, ...warnings] of INPUTS) {
  Deno.test(`InputSensor ${verb}`, async () => {
    const sensor = new TestSensor();
    await sensor.send(...chunks);
    sensor.assert(JSON.stringify(text), ...warnings);
  });
}

Deno.test("InputSensor serves JSON unchanged", async () => {
  const sensor = new TestSensor({ json: true });
  for (const text of ['{"t": 21.50}', "12345678901234567890", ' [1, "°"] ']) {
    await sensor.send(`${text}\r\n`);
    sensor.assert(text);
  }
});

const NOT_JSON = [
  ...["21,5", "NaN", "{", "1 2", "[".repeat(MAX_LINE_BYTES)],
  fromHex("22ff22"), // invalid UTF-8
  fromHex("efbbbf31"), // a byte order mark
];

Deno.test("InputSensor drops lines that are not JSON", async () => {
  for (const line of NOT_JSON) {
    const sensor = new TestSensor({ json: true });
    await sensor.send("21.5\n", line, "\n");
    const [warning] = sensor.warnings;
    sensor.assert("21.5", warning!);
    assert(warning!.startsWith("Dropping lines that are not JSON"));
  }
});

Deno.test("InputSensor escapes what it logs of a line", async () => {
  const sensor = new TestSensor({ json: true });
  await sensor.send("\ufeff\x1b\x9b31m\x7f°".padEnd(80, "x") + "y\n");
  const start = String.raw`\ufeff\u001b\u009b31m\u007f\u00b0`;
  const shown = `"${start}${"x".repeat(72)}"`;
  sensor.assert(undefined, notJson("").replace('""', shown));
});

Deno.test("InputSensor logs the same problem once a minute", async () => {
  const sensor = new TestSensor({ json: true });
  const long = `${LONGEST}x\n`;
  await sensor.send("a\n", '1\nb\n"2"\n', long, "c\n\n", long);
  const first = [notJson("a"), TOO_LONG];
  sensor.assert('"2"', ...first);
  sensor.pass(59_999);
  await sensor.send("d\n");
  sensor.assert('"2"', ...first);
  sensor.pass(1);
  await sensor.send("e\nf\n");
  sensor.assert('"2"', ...first, notJson("e"));
});

const NOTHING = "The sensor has sent no reading";
const INVALID = "The sensor has sent only invalid lines";
const TOO_OLD = "The last reading is 2 s old: the limit is 1 s";

/** Inputs, and why there is no reading after 2 s. */
const REASONS: [chunks: Chunk[], reason: string][] = [
  [["2"], `${NOTHING} so far`],
  [["x\n"], `${INVALID} so far`],
  [[null], `${NOTHING}, and the input has ended`],
  [["x\n", null], `${INVALID}, and the input has ended`],
  [[EIO], `${NOTHING}, and the input has failed`],
  [["1\n", null], `${TOO_OLD}, and the input has ended`],
];

for (const [chunks, reason] of REASONS) {
  Deno.test(`InputSensor says: ${reason}`, async () => {
    const sensor = new TestSensor({ json: true, maxAgeSeconds: 1 });
    assertEquals(sensor.read(), `${NOTHING} so far`);
    await sensor.send(...chunks);
    sensor.pass(2000);
    assertEquals(sensor.read(), reason);
  });
}

Deno.test("InputSensor is unavailable while its reading is too old, and logs it once", async () => {
  const sensor = new TestSensor({ maxAgeSeconds: 1.5 });
  await sensor.send("21.5\n");
  sensor.pass(1500);
  sensor.assert('"21.5"');
  const age = (seconds: number) =>
    `The last reading is ${seconds} s old: the limit is 1.5 s`;
  sensor.pass(1);
  assertEquals(sensor.read(), age(1.6));
  sensor.pass(60_000);
  assertEquals(sensor.read(), age(61.6));
  await sensor.send("22\n");
  const again = "Readings arrive again";
  sensor.assert('"22"', age(1.6), again);
  sensor.pass(1501);
  sensor.assert(undefined, age(1.6), again, age(1.6));
});

Deno.test("InputSensor returns the same reading until the next one arrives", async () => {
  const sensor = new TestSensor();
  await sensor.send("21.5\n");
  const reading = sensor.read();
  assertEquals(reading, { json: '"21.5"', time: new Date(START) });
  sensor.pass(1e12); // without a limit
  assert(sensor.read() === reading);
  await sensor.send("21.5\n");
  assertEquals(sensor.read(), { json: '"21.5"', time: new Date(START + 1e12) });
});

Deno.test("InputSensor ignores changes of the system clock", async () => {
  for (const jump of [-1e12, 1e12]) {
    const sensor = new TestSensor({ maxAgeSeconds: 15 });
    await sensor.send("21.5\n");
    sensor.pass(15_000);
    sensor.date += jump;
    assertEquals(sensor.read(), { json: '"21.5"', time: new Date(START) });
    sensor.pass(1);
    assert(typeof sensor.read() === "string");
  }
});
