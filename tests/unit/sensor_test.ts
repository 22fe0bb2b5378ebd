// Readings: the lines of an input, their limits and their age.

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { createInputSensor, MAX_LINE_BYTES } from "../../src/sensor.ts";
import { waitFor } from "../helpers/wait.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const NOTHING = { unavailable: "The sensor has sent no reading yet" };
const ENDED = "The input has ended: no new readings will arrive";
const TOO_LONG = "Dropping lines longer than 65536 bytes";
const NOT_JSON = "Dropping lines that are not JSON";
const LONGEST = "x".repeat(MAX_LINE_BYTES);

/** What a read of the input returns; null is its end. */
type Chunk = string | Uint8Array | Error | null;

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
    TOO_LONG,
  ],
  ["reads a last line without a line feed", ["21.5\n22", null], "22", ENDED],
  [
    "drops a last line that is too long",
    ["21.5\n", LONGEST, "xx", "22", null],
    "21.5",
    TOO_LONG,
    ENDED,
  ],
  [
    "drops an overlong line that starts with spaces",
    [" ".repeat(MAX_LINE_BYTES + 2), "22\n21.5\n"],
    "21.5",
    TOO_LONG,
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
    sensor.assert("23", TOO_LONG, TOO_LONG);
    await sensor.send(`\n${LONGEST}x`, "the rest of it\n");
    sensor.assert("24", TOO_LONG, TOO_LONG, TOO_LONG);
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
  const bytes = new Uint8Array([0x22, 0xff, 0x22]);
  const deep = "[".repeat(MAX_LINE_BYTES);
  for (const line of ["21,5", "NaN", "\ufeff1", "{", "1 2", deep, bytes]) {
    const sensor = new TestSensor(Infinity, true);
    await sensor.send('"21.5"\n', line, "\n");
    sensor.assert("21.5", NOT_JSON);
  }
});

Deno.test("createInputSensor() warns once about consecutive invalid lines", async () => {
  const sensor = new TestSensor(15, true);
  await sensor.send("a\n", "b\nc\n\n", "d\n");
  sensor.assert(undefined, NOT_JSON);
  await sensor.send('"1"\nx\n');
  sensor.assert("1", NOT_JSON, NOT_JSON);
  await sensor.send('y\n"2"\n', "z\n", `${LONGEST}x\n`, `${LONGEST}x\n`);
  const all = [NOT_JSON, NOT_JSON, NOT_JSON, TOO_LONG];
  sensor.assert("2", ...all);
  sensor.pass(15_001);
  await sensor.send("x\n");
  sensor.assert(undefined, ...all, NOT_JSON);
});

Deno.test("createInputSensor() keeps its last reading when the input fails", async () => {
  const sensor = new TestSensor(15);
  await sensor.send("21.5\n");
  await sensor.send(new Error("EIO"));
  const warning = ENDED.replace("has ended", "has failed (Error: EIO)");
  sensor.assert("21.5", warning);
  sensor.pass(15_001);
  sensor.assert(undefined, warning);
});

Deno.test("createInputSensor() is unavailable until the first line is complete", async () => {
  const sensor = new TestSensor();
  assertEquals(sensor.read(), NOTHING);
  await sensor.send("21.5");
  assertEquals(sensor.read(), NOTHING);
});

Deno.test("createInputSensor() is unavailable while its reading is too old", async () => {
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
  sensor.assert("22");
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
    sensor.assert(undefined);
  }
});

Deno.test("createInputSensor() pauses after each read", async () => {
  let reads = 0;
  const ended = Promise.withResolvers<void>();
  const input = {
    read: (bytes: Uint8Array) =>
      Promise.resolve(reads++ < 20 ? bytes.length : null),
  };
  // Warns about the line, which is too long, and about the end
  const warn = () => reads > 20 && ended.resolve();
  const logger = { warn } as unknown as Logger;
  const start = performance.now();
  createInputSensor(input, { json: false, maxAgeSeconds: Infinity }, logger);
  await ended.promise;
  assert(performance.now() - start > 90, "The pauses are too short");
});
