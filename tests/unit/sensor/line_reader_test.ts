// Which lines an input has, however it is cut, and how fast they are read.

import { assert, assertEquals } from "@std/assert";
import {
  isBlank,
  MAX_LINE_BYTES,
  readLines,
} from "../../../src/sensor/line_reader.ts";
import { testProperty } from "../../helpers/random.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { delay } from "../../helpers/wait.ts";
import { type Chunk, TestInput } from "./test_input.ts";

const CAN = "\x18";

/** A line that is not blank: its length, its start and what is wrong with it. */
type Result = [length: number, start: string, problem?: string];

const result = (line: string, problem?: string): Result => [
  line.length,
  line.slice(0, 20),
  problem,
];

const TOO_LONG = "Dropping lines longer than 65536 bytes";
const PAUSED = "Dropping lines that pause before they end";
const UNFINISHED = "Dropping lines without a line feed";

/** Reads all lines of a whole input. Each one takes some time, in ms, to process. */
async function readAll(
  chunks: Chunk[],
  clock: TestClock,
  processingTime = (_line: number) => 0,
): Promise<Result[]> {
  const input = new TestInput(clock);
  input.push(...chunks, null);
  const lines: Result[] = [];
  for await (const { bytes, invalid } of readLines(input, clock)) {
    clock.pass(processingTime(lines.length));
    if (isBlank(bytes)) continue;
    lines.push(result(new TextDecoder().decode(bytes), invalid?.problem));
  }
  return lines;
}

/** Does what readLines() should do, one byte at a time. */
function readBytes(chunks: readonly Chunk[]): Result[] {
  const lines: Result[] = [];
  let line = "";
  let isSkipping = false;
  const isVisible = () => /[!-\xff]/.test(line);
  const add = (problem?: string) => {
    if (isVisible()) lines.push(result(line, problem));
    line = "";
  };
  for (const chunk of chunks) {
    if (typeof chunk === "number" && chunk > 900 && isVisible()) {
      add(PAUSED);
      isSkipping = true;
    }
    for (const byte of typeof chunk === "string" ? chunk : "") {
      if (byte !== "\n") {
        if (!isSkipping) line += byte;
        if (line.length < MAX_LINE_BYTES + 2) continue;
        add(TOO_LONG);
        isSkipping = true;
        continue;
      }
      isSkipping = false;
      line = line.replace(/\r$/, "");
      const isMarked = line.endsWith(CAN);
      if (isMarked) line = line.slice(0, -1);
      const problem = line.length > MAX_LINE_BYTES ? TOO_LONG : undefined;
      add(isMarked ? UNFINISHED : problem);
    }
  }
  add(UNFINISHED);
  return lines;
}

const PIECES = ["!", "!", "\n", "\n", "\r\n", "\r", CAN, " "];

testProperty(
  "readLines() yields the same lines, however they are cut",
  500,
  async (random) => {
    const choosePiece = () =>
      random.below(16)
        ? random.pick(PIECES)
        : random.pick(["x", " "]).repeat(MAX_LINE_BYTES - 2 + random.below(5));
    const chunks = random.list(5, () => [
      random.pick([0, 900, 901]),
      random.list(1 + random.below(3), choosePiece).join(""),
    ]).flat();
    assertEquals(await readAll(chunks, new TestClock()), readBytes(chunks));
  },
);

/** Reads a text, and returns the number of its lines and for how long it rested, in ms. */
async function measure(
  text: string,
  processingTime?: (line: number) => number,
) {
  const clock = new TestClock();
  let restedMs = 0;
  let isResting = false;
  clock.now = () => {
    assert(!isResting, "It does not wait");
    return clock.monotonicMs;
  };
  clock.delay = async (milliseconds) => {
    isResting = true;
    await delay(0); // what waits, such as requests, gets a turn
    isResting = false;
    restedMs += milliseconds;
  };
  const lines = await readAll([text], clock, processingTime);
  return [lines.length, restedMs];
}

Deno.test("readLines() reads 1 MB a second at most, and drops an endless line once", async () => {
  const text = "x".repeat(4 * (MAX_LINE_BYTES + 2));
  assertEquals(await measure(text), [1, text.length / 1000]);
});

Deno.test("readLines() rests while many lines are processed, and after the read", async () => {
  assertEquals(await measure("x\n".repeat(10), () => 1), [10, 5 * 5 + 5]);
});

Deno.test("readLines() rests once after a line that takes long", async () => {
  const takeLong = (line: number) => line === 0 ? 1000 : 0;
  assertEquals(await measure("x\n".repeat(1000), takeLong), [1000, 5 + 5]);
});
