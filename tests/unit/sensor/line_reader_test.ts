// Lines of an input: compared with a simple model, and how fast they are read.

import { assert, assertEquals } from "@std/assert";
import {
  type Input,
  MAX_LINE_BYTES,
  readLines,
} from "../../../src/sensor/line_reader.ts";
import { createRandom, type Random, SEED } from "../../helpers/random.ts";

/** What arrives at once, after a pause or without one. */
interface Piece {
  text: string;
  isLate?: boolean;
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

/** Reads pieces whose lines each take some time, in ms, to process. */
async function readPieces(
  pieces: Piece[],
  processingTime = (_index: number): number => 0,
) {
  let now = 0;
  const rest = [...pieces];
  const input: Input = {
    read(bytes) {
      const piece = rest.shift();
      if (!piece) return Promise.resolve(null);
      if (piece.isLate) now += 1000;
      const text = piece.text.slice(0, bytes.length);
      if (text.length < piece.text.length) {
        rest.unshift({ text: piece.text.slice(text.length) });
      }
      bytes.set(new TextEncoder().encode(text));
      return Promise.resolve(text.length);
    },
  };
  const lines: string[] = [];
  let drops = 0;
  const start = performance.now();
  for await (const line of readLines(input, () => drops++, () => now)) {
    now += processingTime(lines.length);
    lines.push(new TextDecoder().decode(line));
  }
  return { lines, drops, duration: performance.now() - start };
}

Deno.test(`readLines() yields the whole lines of random pieces (DATASENSOR_SEED=${SEED})`, async () => {
  await Promise.all(Array.from({ length: 500 }, async (_, index) => {
    const pieces = createPieces(createRandom(SEED + index));
    const { lines } = await readPieces(pieces);
    assertEquals(lines, expectLines(pieces));
  }));
});

Deno.test("readLines() pauses after each read, and drops an endless line once", async () => {
  const text = "x".repeat(20 * (MAX_LINE_BYTES + 2));
  const { drops, duration } = await readPieces([{ text }]);
  assertEquals(drops, 1);
  assert(duration > 90, `It took ${duration} ms`);
});

Deno.test("readLines() pauses while many lines are processed", async () => {
  const pieces = [{ text: "x\n".repeat(100) }];
  const { duration } = await readPieces(pieces, () => 2);
  assert(duration > 450, `It took ${duration} ms`);
});

Deno.test("readLines() pauses once after a line that takes long", async () => {
  const pieces = [{ text: "x\n".repeat(1000) }];
  const takeLong = (index: number) => index === 0 ? 1000 : 0;
  const { duration } = await readPieces(pieces, takeLong);
  assert(duration < 4000, `It took ${duration} ms`); // 1000 pauses take 5000 ms
});
