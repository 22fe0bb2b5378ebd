// Lines of an input as readings, and what is logged of those that are none.

import { assertEquals } from "@std/assert";
import { followInput, withJsonHint } from "../../../src/sensor/input.ts";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import {
  createJsonParser,
  parseText,
} from "../../../src/sensor/line_parser.ts";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_reader.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";
import { delay } from "../../helpers/wait.ts";
import { type Chunk, TestInput } from "./test_input.ts";

const ENDED = "The input has ended: no new readings will arrive";
const EIO = new Error("EIO");
const FAILED = ENDED.replace("ended", "failed (Error: EIO)");
const such = (problem: string, start: string, remedy: string) =>
  `Dropping lines ${problem}, such as ${JSON.stringify(start)}. ${remedy}`;
const notJson = (start: string) =>
  such(
    "that are not JSON",
    start,
    "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text",
  );
const PRINT_ITS_END = String
  .raw`If this is a whole reading, print a line feed after it: curl URL && echo, or printf '21.5\n' (in the settings file '21.5\\n'). If not, the program stopped while printing it`;
const PAUSED = such("that pause before they end", "2", PRINT_ITS_END);
const UNFINISHED = such("without a line feed", "2", PRINT_ITS_END);
const TOO_LONG = such(
  "longer than 65536 bytes",
  "x".repeat(80),
  "Print shorter lines, each with a line feed at its end",
);
const HINT = "in a pipe, it may buffer its output";
const JSON_HINT =
  "Lines are JSON objects, but --json is not set: each is served as one string, without its numbers";
const LONGEST = "x".repeat(MAX_LINE_BYTES);

/** What follows an input. */
class Simulation {
  readonly warnings: string[] = [];
  readonly clock = new TestClock();
  readonly input = new TestInput(this.clock);
  readonly readings = new LastReadings(300, HINT, this.clock);
  readonly stopper = new AbortController();

  constructor({ json = false } = {}) {
    const logger = createTestLogger((line) => this.warnings.push(line));
    followInput({
      input: this.input,
      parse: json ? createJsonParser() : withJsonHint(parseText, logger),
      readings: this.readings,
      logger,
      stop: this.stopper.signal,
      clock: this.clock,
    });
  }

  /** Adds to the input, and waits until all of it is read: nothing takes time. */
  async send(...chunks: Chunk[]): Promise<void> {
    this.input.push(...chunks);
    await delay(0);
  }

  /** Asserts the last reading, and all warnings so far. */
  assert(json: string | undefined, ...warnings: string[]): void {
    const served = this.readings.snapshot().all?.json;
    assertEquals([served, this.warnings], [json, warnings]);
  }
}

/** An input, with the reading and the warnings that it leads to. */
type Row = [verb: string, chunks: Chunk[], text: string, ...warnings: string[]];
const INPUTS: Row[] = [
  ["reads lines as they come", ["21.5\n", "2", "2.\r\n23"], "22."],
  ["skips blank lines", ["21.5\n", "\r\n \t\r\n\x18\n\n"], "21.5"],
  ["keeps spaces", ["  21\r.5 °C \n"], "  21\r.5 °C "],
  [
    "warns once of JSON",
    ['{"t"\n{"t":2}\n', '{"t":3}\n'],
    '{"t":3}',
    JSON_HINT,
  ],
  ["drops an overlong line", ["1\n", LONGEST, "x\n"], "1", TOO_LONG],
  ["drops a line that pauses", ["1\n2", 1000, "3\n"], "1", PAUSED],
  ["drops a line with a mark", ["1\n2", "\x18\n"], "1", UNFINISHED],
  ["drops a line without an end", ["1\n2", null], "1", UNFINISHED, ENDED],
  ["keeps its reading if the input fails", ["21\n", EIO], "21", FAILED],
];

for (const [verb, chunks, text, ...warnings] of INPUTS) {
  Deno.test(`followInput() ${verb}`, async () => {
    const input = new Simulation();
    await input.send(...chunks);
    input.assert(JSON.stringify(text), ...warnings);
  });
}

Deno.test("followInput() does not take what it drops of a line for the start of a text", async () => {
  const input = new Simulation({ json: true });
  await input.send(`${LONGEST}{\n 1\n`, "2,\x18\n", " 3\n");
  input.assert(" 3", TOO_LONG, UNFINISHED.replace("2", "2,"));
});

Deno.test("followInput() escapes what it logs of a line", async () => {
  const input = new Simulation({ json: true });
  await input.send("\ufeff\x1b\x9b31m\x7f°".padEnd(80, "x") + "y\n");
  const start = String.raw`\ufeff\u001b\u009b31m\u007f\u00b0`;
  const shown = `"${start}${"x".repeat(72)}"`;
  input.assert(undefined, notJson("").replace('""', shown));
});

Deno.test("followInput() logs the same problem once a minute", async () => {
  const input = new Simulation({ json: true });
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
    const input = new Simulation({ json: true });
    await input.send(...chunks);
    assertEquals(input.readings.explain(), `The sensor has sent ${reason}`);
  });
}

Deno.test("followInput() does not log the end of an input that comes with the signal to stop", async () => {
  for (const end of [null, EIO]) {
    const input = new Simulation();
    const stop = () => Promise.resolve(input.stopper.abort());
    input.clock.delay = stop; // Ctrl+C ends a sensor in the same pipeline first
    await input.send(end);
    input.assert(undefined);
  }
});
