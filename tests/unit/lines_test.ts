// Lines of an input: compared with a simple model, and how fast they are read.

import { assert, assertEquals } from "@std/assert";
import { type Input, MAX_LINE_BYTES, readLines } from "../../src/lines.ts";
import { createRandom, type Random, randomSeed } from "../helpers/random.ts";

const SEED = randomSeed();

/** What arrives at once, after a pause or without one. */
interface Piece {
  isLate: boolean;
  text: string;
}

const TEXTS = ["x", "yz", "\n", "\r\n", "\r", "a\nb\n", "x".repeat(30_000)];

function createPieces(random: Random): Piece[] {
  return Array.from({ length: 20 }, () => ({
    isLate: random() < 0.2,
    text: TEXTS[Math.floor(random() * TEXTS.length)]!,
  }));
}

/** Returns the whole lines that are not too long, one character after the other. */
function expectLines(pieces: Piece[]): string[] {
  const lines: string[] = [];
  let line = "";
  let hasPaused = false;
  for (const { isLate, text } of pieces) {
    if (isLate && line !== "") hasPaused = true;
    for (const character of text) {
      line += character;
      if (character !== "\n") continue;
      const content = line.replace(/\r?\n$/, "");
      if (!hasPaused && content.length <= MAX_LINE_BYTES) lines.push(content);
      [line, hasPaused] = ["", false];
    }
  }
  return lines;
}

/** Returns the lines that are read from the pieces. */
async function readPieces(pieces: Piece[]): Promise<string[]> {
  let now = 0;
  const rest = [...pieces];
  const input: Input = {
    read(bytes) {
      const piece = rest.shift();
      if (!piece) return Promise.resolve(null);
      if (piece.isLate) now += 1000;
      const text = piece.text.slice(0, bytes.length);
      if (text.length < piece.text.length) {
        rest.unshift({ isLate: false, text: piece.text.slice(text.length) });
      }
      bytes.set(new TextEncoder().encode(text));
      return Promise.resolve(text.length);
    },
  };
  const lines: string[] = [];
  for await (const line of readLines(input, () => {}, () => now)) {
    lines.push(new TextDecoder().decode(line));
  }
  return lines;
}

Deno.test(`readLines() yields the whole lines of random pieces (DATASENSOR_SEED=${SEED})`, async () => {
  await Promise.all(Array.from({ length: 500 }, async (_, index) => {
    const pieces = createPieces(createRandom(SEED + index));
    assertEquals(await readPieces(pieces), expectLines(pieces));
  }));
});

/** Reads lines of one character, and returns how long that takes, in ms. */
async function timeLines(count: number, now: (lines: number) => number) {
  const pieces = [new TextEncoder().encode("x\n".repeat(count))];
  const input: Input = {
    read(bytes) {
      const piece = pieces.shift();
      if (piece) bytes.set(piece);
      return Promise.resolve(piece?.length ?? null);
    },
  };
  let lines = 0;
  const start = performance.now();
  for await (const _ of readLines(input, () => {}, () => now(lines))) lines++;
  return performance.now() - start;
}

Deno.test("readLines() pauses after each read, and drops an endless line once", async () => {
  let reads = 0;
  let drops = 0;
  const input: Input = {
    read: (bytes) => Promise.resolve(reads++ < 20 ? bytes.length : null),
  };
  const start = performance.now();
  for await (const _ of readLines(input, () => drops++, () => 0));
  assertEquals(drops, 1);
  assert(performance.now() - start > 90, "The pauses are too short");
});

Deno.test("readLines() pauses while many lines are processed", async () => {
  const duration = await timeLines(100, (lines) => 2 * lines);
  assert(duration > 450, `It took ${duration} ms`);
});

Deno.test("readLines() pauses once after a line that takes long", async () => {
  const duration = await timeLines(1000, (lines) => lines > 0 ? 1000 : 0);
  assert(duration < 4000, `It took ${duration} ms`); // 1000 pauses take 5000 ms
});
