// Lines of an input as readings, and what is logged of those that are none.

import { assertEquals } from "@std/assert";
import { followInput } from "../../../src/sensor/input.ts";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import {
  createJsonParser,
  parseText,
} from "../../../src/sensor/line_parser.ts";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_reader.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";
import { waitFor } from "../../helpers/wait.ts";

const ENDED = "The input has ended: no new readings will arrive";
const EIO = new Error("EIO");
const FAILED = ENDED.replace("ended", "failed (Error: EIO)");
const such = (problem: string, start: string) =>
  `Dropping lines ${problem}, such as ${JSON.stringify(start)}`;
const REMEDY =
  ". Print a whole JSON text on each line: double quotes, not single ones (Python: json.dumps), a decimal point, not a comma, and nothing instead of nan. Or omit --json to serve any text";
const notJson = (start: string) => such("that are not JSON", start) + REMEDY;
const PAUSED = such("that pause before they end", "2");
const CUT_OFF = such("without a line feed", "2");
const TOO_LONG = such("longer than 65536 bytes", "x".repeat(80));
const HINT = "in a pipe, it may buffer its output";
const LONGEST = "x".repeat(MAX_LINE_BYTES);
const ENDLESS = LONGEST.repeat(4); // so far
const { fromHex } = Uint8Array;

/** What a read of the input returns; null is its end, a number a pause in ms. */
type Chunk = string | Uint8Array | Error | number | null;

class TestInput {
  readonly warnings: string[] = [];
  readonly readings: LastReadings;
  readonly end: Promise<void>;
  readonly stopper = new AbortController();
  readonly clock = new TestClock();
  readonly #chunks: Chunk[] = [];
  #wake: (() => void) | undefined; // while a read waits

  constructor({
    json = false,
    delay = () => Promise.resolve(),
  } = {}) {
    const logger = createTestLogger((line) => this.warnings.push(line));
    this.clock.delay = delay;
    this.readings = new LastReadings(300, HINT, logger, this.clock);
    this.end = followInput({
      input: { read: (bytes: Uint8Array) => this.#read(bytes) },
      parse: json ? createJsonParser() : parseText,
      readings: this.readings,
      logger,
      stop: this.stopper.signal,
      clock: this.clock,
    });
  }

  async #read(bytes: Uint8Array): Promise<number | null> {
    if (bytes.length === 0) throw new Error("There is no room to read into");
    if (this.#chunks.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    let chunk = this.#chunks.shift()!;
    if (typeof chunk === "number") {
      this.clock.pass(chunk);
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

  /** Adds to the input. */
  push(...chunks: Chunk[]): void {
    this.#chunks.push(...chunks);
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Adds to the input, and waits until all of it is read. */
  async send(...chunks: Chunk[]): Promise<void> {
    this.push(...chunks);
    const isDone = () =>
      this.#wake !== undefined ||
      this.warnings.some((warning) => warning.startsWith("The input"));
    await waitFor("another read, or the end of the input", isDone);
  }

  /** Asserts the last reading, and all warnings so far. */
  assert(json: string | undefined, ...warnings: string[]): void {
    const reading = this.readings.read();
    const served = "json" in reading ? reading.json : undefined;
    assertEquals([served, this.warnings], [json, warnings]);
  }
}

/** An input, with the reading and the warnings that it leads to. */
type Row = [verb: string, chunks: Chunk[], text: string, ...warnings: string[]];
const INPUTS: Row[] = [
  ["waits for the end of the next line", ["21.5\n22"], "21.5"],
  ["skips blank lines", ["\n21.5\n", "\r\n \t\r\n\n"], "21.5"],
  ["keeps a line of one visible character", ["21.5\n!\n"], "!"],
  ["keeps spaces", ["  21\r.5 °C \n"], "  21\r.5 °C "],
  ["escapes quotes", ['{"a": "b"}\n'], '{"a": "b"}'],
  ["replaces invalid UTF-8", [fromHex("61ffc30a")], "a\ufffd\ufffd"],
  ["joins the bytes of a character", [fromHex("c2"), fromHex("b00a")], "°"],
  ["keeps a byte order mark", ["\ufeff21.5\n"], "\ufeff21.5"],
  ["reads the longest line", [`${LONGEST}\r`, "\n"], LONGEST],
  ["drops an overlong line", ["2\n", LONGEST, "x\n"], "2", TOO_LONG],
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
  Deno.test(`followInput() ${verb}`, async () => {
    const input = new TestInput();
    await input.send(...chunks);
    input.assert(JSON.stringify(text), ...warnings);
  });
}

Deno.test("followInput() takes no line that it drops for its length or a pause for a piece of a text", async () => {
  const input = new TestInput({ json: true });
  await input.send(`${LONGEST}{\n1\n`, "2", 1000, "{\n3\n");
  input.assert("3", TOO_LONG, PAUSED);
});

Deno.test("followInput() escapes what it logs of a line", async () => {
  const input = new TestInput({ json: true });
  await input.send("\ufeff\x1b\x9b31m\x7f°".padEnd(80, "x") + "y\n");
  const start = String.raw`\ufeff\u001b\u009b31m\u007f\u00b0`;
  const shown = `"${start}${"x".repeat(72)}"`;
  input.assert(undefined, notJson("").replace('""', shown));
});

Deno.test("followInput() logs the same problem once a minute", async () => {
  const input = new TestInput({ json: true });
  const long = `${LONGEST}x\n`;
  await input.send("a\n", '1\nb\n"2"\n', long, "c\n\n", long);
  const first = [notJson("a"), TOO_LONG];
  input.assert('"2"', ...first);
  input.clock.pass(59_999);
  await input.send("d\n");
  input.assert('"2"', ...first);
  input.clock.pass(1);
  await input.send("e\nf\n");
  input.assert('"2"', ...first, notJson("e"));
});

const REASONS: [chunks: Chunk[], reason: string][] = [
  [["2"], `no reading so far; ${HINT}`],
  [["x\n"], "only invalid lines so far; the log shows one"],
  [[null], "no reading, and the input has ended"],
  [["x\n", null], "only invalid lines, and the input has ended"],
  [[EIO], "no reading, and the input has failed"],
];

for (const [chunks, reason] of REASONS) {
  Deno.test(`followInput() explains that the sensor has sent ${reason}`, async () => {
    const input = new TestInput({ json: true });
    await input.send(...chunks);
    const unavailable = `The sensor has sent ${reason}`;
    assertEquals(input.readings.read(), { unavailable });
  });
}

Deno.test("followInput() does not log the end of an input that comes with the signal to stop", async () => {
  for (const [end, how] of [[null, "ended"], [EIO, "failed"]] as const) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const input = new TestInput({ delay: () => promise });
    input.push(end);
    const reason = `The sensor has sent no reading, and the input has ${how}`;
    const read = () => input.readings.read();
    await waitFor(
      `"${reason}"`,
      read,
      (reading) => "unavailable" in reading && reading.unavailable === reason,
    );
    input.stopper.abort(); // Ctrl+C ends a sensor in the same pipeline first
    resolve();
    await input.end;
    input.assert(undefined);
  }
});
