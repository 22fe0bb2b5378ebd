// Which lines an input has, however it is cut, and how fast they are read.

import { assertEquals } from "@std/assert";
import { MAX_LINE_BYTES } from "../../../src/sensor/invalid_line.ts";
import { isBlank, readLines } from "../../../src/sensor/line_reader.ts";
import { testProperty } from "../../helpers/random.ts";
import { TestClock } from "../test_clock.ts";
import { type Chunk, TestInput } from "../test_input.ts";

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

/** Reads all lines of a whole input. */
async function readAll(chunks: Chunk[], clock: TestClock): Promise<Result[]> {
  const input = new TestInput(clock);
  input.push(...chunks, null);
  const lines: Result[] = [];
  for await (const { bytes, invalid } of readLines(input, clock)) {
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
    const chunks = Array.from({ length: 5 }, () => [
      random.pick([0, 900, 901]),
      Array.from({ length: 1 + random.below(3) }, choosePiece).join(""),
    ]).flat();
    const clock = new TestClock();
    clock.delay = () => Promise.resolve();
    assertEquals(await readAll(chunks, clock), readBytes(chunks));
  },
);

Deno.test("readLines() rests after each KiB, so that requests get a turn and a flood waits", async () => {
  const clock = new TestClock();
  const endless = "x".repeat(MAX_LINE_BYTES + 2);
  const chunks = [endless.repeat(2), "\n", "y".repeat(1023) + "\nz\n"];
  let lines: Result[] = [];
  readAll(chunks, clock).then((all) => lines = all);
  await clock.pass(5 * (2 * 65 + 1 + 2) - 1);
  assertEquals(lines.length, 0);
  await clock.pass(1);
  assertEquals(lines.length, 1 + 2); // what is too long is dropped once
});
