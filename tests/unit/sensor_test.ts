// Readings: the lines of an input, their limits and their age.

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { MAX_LINE_BYTES } from "../../src/lines.ts";
import { createInputSensor } from "../../src/sensor.ts";
import { waitFor } from "../helpers/wait.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const NOTHING = { unavailable: "The sensor has sent no reading yet" };
const ENDED = "The input has ended: no new readings will arrive";
const INVALID = {
  unavailable: "The sensor has sent only invalid lines so far",
};
const such = (problem: string, start: string) =>
  `Dropping lines ${problem}, such as ${JSON.stringify(start)}`;
const notJson = (start: string) => such("that are not JSON", start);
const noLineFeed = (start: string) => such("without a line feed", start);
const paused = (start: string) => such("that pause before they end", start);
const tooLong = (start: string) => such("longer than 65536 bytes", start);
const TOO_LONG = tooLong("x".repeat(80));
const LONGEST = "x".repeat(MAX_LINE_BYTES);

/** What a read of the input returns; null is its end, a number a pause in ms. */
type Chunk = string | Uint8Array | Error | number | null;

/** A sensor with a fake input and fake clocks. */
class TestSensor {
  readonly warnings: string[] = [];
  readonly read: ReturnType<typeof createInputSensor>;
  now = 1000;
  date = START;
  readonly #chunks: Chunk[] = [];
  #wake: (() => void) | undefined; // while a read waits

  constructor(maxAgeSeconds = Infinity, json = false) {
    const logger = { warn: (line: string) => this.warnings.push(line) };
    this.read = createInputSensor(
      { read: (bytes) => this.#read(bytes) },
      { json, maxAgeSeconds },
      logger as unknown as Logger,
      () => this.now,
      () => this.date,
    );
  }

  async #read(bytes: Uint8Array): Promise<number | null> {
    while (this.#chunks.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    this.#wake = undefined;
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

  /** The JSON text of the reading. */
  get json(): string | undefined {
    const reading = this.read();
    return "unavailable" in reading ? undefined : reading.json;
  }

  /** Asserts the text of the reading, and all warnings so far. */
  assert(text: string | undefined, ...warnings: string[]): void {
    const { json } = this;
    assertEquals(json === undefined ? undefined : JSON.parse(json), text);
    assertEquals(this.warnings, warnings);
  }
}

/** Inputs, with the readings and warnings that they lead to. */
const INPUTS: [
  verb: string,
  chunks: Chunk[],
  text: string | undefined,
  ...warnings: string[],
][] = [
  ["waits for the end of a line", ["21.5"], undefined],
  ["waits for the end of the next line", ["21.5\n22"], "21.5"],
  ["reads the last of two lines", ["21.5\n22\n"], "22"],
  ["reads a line of one character", ["21.5\n", "x", "\n"], "x"],
  ["joins the parts of a line", ["21", ".5", "\r", "\n"], "21.5"],
  ["skips blank lines", ["\n21.5\n", "\r\n \t\r\n\n"], "21.5"],
  ["keeps a line of one visible character", ["21.5\n!\n"], "!"],
  ["skips an empty last line", ["21.5\n\n"], "21.5"],
  ["keeps spaces", ["  21\r.5 °C \n"], "  21\r.5 °C "],
  ["escapes quotes", ['{"a": "b"}\n'], '{"a": "b"}'],
  [
    "replaces invalid UTF-8",
    [new Uint8Array([0x61, 0xff, 0xc3, 0x0a])],
    "a\ufffd\ufffd",
  ],
  [
    "joins the bytes of a character",
    [new Uint8Array([0xc2]), new Uint8Array([0xb0, 0x0a])],
    "°",
  ],
  ["keeps a byte order mark", ["\ufeff21.5\n"], "\ufeff21.5"],
  ["reads the longest line", [LONGEST, "\n"], LONGEST],
  ["reads the longest line with CRLF", [`${LONGEST}\r`, "\n"], LONGEST],
  ["reads a line after the longest", [`21.5\n${LONGEST}\n22\n`], "22"],
  [
    "drops lines a byte too long, with LF or CRLF",
    [`21\n${LONGEST}x\n22\n${LONGEST}x`, "\r\n"],
    "22",
    TOO_LONG,
  ],
  [
    "drops a last line without a line feed",
    ["21.5\n22", null],
    "21.5",
    noLineFeed("22"),
    ENDED,
  ],
  ["ends after a line", ["21.5\n", null], "21.5", ENDED],
  [
    "drops a last line that is too long",
    ["21.5\n", LONGEST, "xx", "22", null],
    "21.5",
    TOO_LONG,
    ENDED,
  ],
  [
    "drops all of a line that pauses",
    ["21.5\n2", 1000, "22", 1000, ".5", "\n"],
    "21.5",
    paused("2"),
  ],
  [
    "reads the line after one that pauses",
    ["2", 1000, "1.5\n22\n"],
    "22",
    paused("2"),
  ],
  ["joins what comes within a second", ["2", 800, "1", 800, ".5\n"], "21.5"],
  ["waits forever between lines", ["21.5\n", 1e9, "22\n"], "22"],
  [
    "drops an overlong line that starts with spaces",
    [" ".repeat(MAX_LINE_BYTES + 2), "22\n21.5\n"],
    "21.5",
    tooLong(" ".repeat(80)),
  ],
  ["has no reading if the input is empty", [null], undefined, ENDED],
];

for (const [verb, chunks, text, ...warnings] of INPUTS) {
  Deno.test(`createInputSensor() ${verb}`, async () => {
    const sensor = new TestSensor();
    await sensor.send(...chunks);
    sensor.assert(text, ...warnings);
  });
}

Deno.test("createInputSensor() drops lines that are too long", async () => {
  for (const excess of [2, 3 * MAX_LINE_BYTES]) {
    const sensor = new TestSensor();
    await sensor.send("21.5\n", LONGEST, "x".repeat(excess));
    sensor.assert("21.5", TOO_LONG);
    await sensor.send("x", "\n");
    sensor.assert("21.5", TOO_LONG);
    await sensor.send("22\n");
    sensor.assert("22", TOO_LONG);
    await sensor.send(`${LONGEST}xx\n23\n24`);
    sensor.assert("23", TOO_LONG);
    await sensor.send(`\n${LONGEST}x`, "the rest of it\n");
    sensor.assert("24", TOO_LONG);
  }
});

Deno.test("createInputSensor() serves JSON unchanged", async () => {
  const sensor = new TestSensor(Infinity, true);
  const texts = ['{"t": 21.50}', "12345678901234567890", ' [1, "°"] ', "7"];
  for (const text of texts) {
    await sensor.send(`${text}\r\n`);
    assertEquals(sensor.json, text);
  }
  await sensor.send("1\n2\n3");
  assertEquals([sensor.json, sensor.warnings], ["2", []]);
});

Deno.test("createInputSensor() drops lines that are not JSON", async () => {
  const deep = "[".repeat(MAX_LINE_BYTES);
  for (const line of ["21,5", "NaN", "{", "1 2", deep]) {
    const sensor = new TestSensor(Infinity, true);
    await sensor.send('"21.5"\n', line, "\n");
    sensor.assert("21.5", notJson(line.slice(0, 80)));
  }
  for (
    const bytes of [[0x22, 0xff, 0x22, 0x0a], [0xef, 0xbb, 0xbf, 0x31, 0x0a]]
  ) {
    const sensor = new TestSensor(Infinity, true);
    await sensor.send(new Uint8Array(bytes));
    assertEquals(sensor.read(), INVALID); // invalid UTF-8, a byte order mark
  }
});

Deno.test("createInputSensor() escapes what it logs of a line", async () => {
  const sensor = new TestSensor(Infinity, true);
  await sensor.send("\ufeff\x1b\x9b31m\x7f°".padEnd(80, "x") + "y\n");
  const start = String.raw`\ufeff\u001b\u009b31m\u007f\u00b0`;
  const shown = `"${start}${"x".repeat(72)}"`;
  sensor.assert(undefined, notJson("").replace('""', shown));
});

Deno.test("createInputSensor() logs the same problem once a minute", async () => {
  const sensor = new TestSensor(Infinity, true);
  const long = `${LONGEST}x\n`;
  await sensor.send("a\n", '1\nb\n"2"\n', long, "c\n\n", long);
  const first = [notJson("a"), TOO_LONG];
  sensor.assert("2", ...first);
  sensor.pass(59_999);
  await sensor.send("d\n");
  sensor.assert("2", ...first);
  sensor.pass(1);
  await sensor.send("e\nf\n");
  sensor.assert("2", ...first, notJson("e"));
});

Deno.test("createInputSensor() says that only dropped lines have come", async () => {
  const sensor = new TestSensor(Infinity, true);
  assertEquals(sensor.read(), NOTHING);
  await sensor.send("x\n");
  assertEquals(sensor.read(), INVALID);
  await sensor.send("1\nx\n");
  assertEquals(sensor.json, "1");
});

Deno.test("createInputSensor() retries an input that is not blocking", async () => {
  const sensor = new TestSensor();
  const error = new Deno.errors.WouldBlock();
  const start = performance.now();
  await sensor.send("21.5\n2", error, error, "2\n");
  sensor.assert("22");
  assert(performance.now() - start > 180, "The pauses are too short");
});

Deno.test("createInputSensor() keeps its last reading when the input fails", async () => {
  const sensor = new TestSensor(15);
  await sensor.send("21.5\n");
  await sensor.send(new Error("EIO"));
  const warning = ENDED.replace("has ended", "has failed (Error: EIO)");
  sensor.assert("21.5", warning);
  sensor.pass(15_001);
  assert("unavailable" in sensor.read());
});

Deno.test("createInputSensor() is unavailable until the first line is complete", async () => {
  const sensor = new TestSensor();
  assertEquals(sensor.read(), NOTHING);
  await sensor.send("21.5");
  assertEquals(sensor.read(), NOTHING);
});

Deno.test("createInputSensor() is unavailable while its reading is too old, and logs it once", async () => {
  const sensor = new TestSensor(1.5);
  await sensor.send("21.5\n");
  sensor.pass(1500);
  sensor.assert("21.5");
  const age = (seconds: number) =>
    `The last reading is ${seconds} s old: the limit is 1.5 s`;
  sensor.pass(1);
  assertEquals(sensor.read(), { unavailable: age(1.6) });
  sensor.pass(60_000);
  assertEquals(sensor.read(), { unavailable: age(61.6) });
  await sensor.send("22\n");
  const again = "Readings arrive again";
  sensor.assert("22", age(1.6), again);
  sensor.pass(1501);
  sensor.assert(undefined, age(1.6), again, age(1.6));
});

Deno.test("createInputSensor() returns the same reading until the next one arrives", async () => {
  const sensor = new TestSensor();
  await sensor.send("21.5\n");
  const reading = sensor.read();
  assertEquals(reading, { json: '"21.5"', time: new Date(START) });
  sensor.pass(1e12); // without a limit
  assert(sensor.read() === reading);
  await sensor.send("21.5\n");
  assertEquals(sensor.read(), { json: '"21.5"', time: new Date(START + 1e12) });
});

Deno.test("createInputSensor() ignores changes of the system clock", async () => {
  for (const jump of [-1e12, 1e12]) {
    const sensor = new TestSensor(15);
    await sensor.send("21.5\n");
    sensor.pass(15_000);
    sensor.date += jump;
    assertEquals(sensor.read(), { json: '"21.5"', time: new Date(START) });
    sensor.pass(1);
    assert("unavailable" in sensor.read());
  }
});
