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

const CAN = "\x18";

/** What arrives at once, after a pause in ms. */
type Chunk = [pause: number, text: string];

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

/** Returns an input, all of whose chunks have arrived when it ends. */
function createInput(chunks: readonly Chunk[], clock: TestClock) {
  const encoder = new TextEncoder();
  const rest = chunks.map(([pause, text]) => ({
    pause,
    bytes: encoder.encode(text),
  }));
  return {
    read(room: Uint8Array): Promise<number | null> {
      assert(room.length > 0);
      const chunk = rest[0];
      if (!chunk) return Promise.resolve(null);
      clock.pass(chunk.pause);
      const count = Math.min(chunk.bytes.length, room.length);
      room.set(chunk.bytes.subarray(0, count));
      chunk.bytes = chunk.bytes.subarray(count);
      chunk.pause = 0;
      if (chunk.bytes.length === 0) rest.shift();
      return Promise.resolve(count);
    },
  };
}

/** Reads all lines. */
async function readAll(chunks: readonly Chunk[]): Promise<Result[]> {
  const clock = new TestClock();
  const decoder = new TextDecoder();
  const lines: Result[] = [];
  for await (const line of readLines(createInput(chunks, clock), clock)) {
    if (isBlank(line.bytes)) continue;
    lines.push(result(decoder.decode(line.bytes), line.invalid?.problem));
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
  for (const [pause, text] of chunks) {
    if (pause > 900 && isVisible()) {
      add(PAUSED);
      isSkipping = true;
    }
    for (const byte of text) {
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
  "readLines() reads the same lines, however they are cut",
  1000,
  async (random) => {
    const chunks: Chunk[] = [[0, "!"]];
    for (let piece = 0; piece < 8; piece++) {
      const text = random.below(16)
        ? random.pick(PIECES)
        : random.pick(["x", " "]).repeat(MAX_LINE_BYTES - 2 + random.below(5));
      const pause = random.pick([undefined, 0, 900, 901]);
      if (pause === undefined) chunks.at(-1)![1] += text;
      else chunks.push([pause, text]);
    }
    assertEquals(await readAll(chunks), readBytes(chunks));
  },
);

/** Reads a text whose lines each take some time, in ms, to process. */
async function read(text: string, processingTime = (_line: number) => 0) {
  const clock = new TestClock();
  let restedMs = 0;
  let isResting = false;
  clock.delay = async (milliseconds) => {
    isResting = true;
    await delay(0); // what waits, such as requests, gets a turn
    isResting = false;
    restedMs += milliseconds;
  };
  const { read } = createInput([[0, text]], clock);
  const input = {
    read(room: Uint8Array) {
      assert(!isResting);
      return read(room);
    },
  };
  let lines = 0;
  let drops = 0;
  for await (const { invalid } of readLines(input, clock)) {
    assert(!isResting);
    if (invalid) drops++;
    else clock.pass(processingTime(lines++));
  }
  return { lines, drops, restedMs };
}

Deno.test("readLines() reads 1 MB a second at most, and drops an endless line once", async () => {
  const text = "x".repeat(4 * (MAX_LINE_BYTES + 2));
  const { lines, drops, restedMs } = await read(text);
  assertEquals([lines, drops, restedMs], [0, 1, text.length / 1000]);
});

Deno.test("readLines() rests while many lines are processed, and after the read", async () => {
  const result = await read("x\n".repeat(10), () => 1);
  assertEquals(result, { lines: 10, drops: 0, restedMs: 5 * 5 + 5 });
});

Deno.test("readLines() rests once after a line that takes long", async () => {
  const takeLong = (line: number) => line === 0 ? 1000 : 0;
  const result = await read("x\n".repeat(1000), takeLong);
  assertEquals(result, { lines: 1000, drops: 0, restedMs: 5 + 5 });
});
