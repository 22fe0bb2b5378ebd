// The bounded buffer of log lines, with a fake sink and clock.

import { assert, assertEquals } from "@std/assert";
import {
  CAPACITY_CHARACTERS,
  LineWriter,
} from "../../../src/log/line_writer.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { waitFor } from "../../helpers/wait.ts";

/**
 * Creates a writer whose sink takes as many bytes as `take` returns, and fails
 * if `take` throws. Its waits take no time, and are recorded when they end.
 */
function createWriter(take = ({ length }: Uint8Array) => length) {
  const decoder = new TextDecoder();
  const writes: string[] = [];
  const waits: number[] = [];
  const sink = (bytes: Uint8Array) =>
    Promise.try(() => {
      const count = take(bytes);
      writes.push(decoder.decode(bytes.subarray(0, count), { stream: true }));
      return count;
    });
  const clock = new TestClock();
  clock.delay = async (milliseconds) => {
    // Ends after all writes if the writer does not await it
    for (let turns = 0; turns < 100; turns++) await null;
    waits.push(milliseconds);
    if (waits.length > 1000) throw new Error("It waits forever");
  };
  const writer = new LineWriter(sink, (count) => `dropped ${count}`, clock);
  const write = (lines: string[]) =>
    lines.forEach((line) => writer.write(line));
  return { writer, write, writes, waits };
}

/** Creates different lines of 1000 bytes, with their ends. */
const createLines = (count: number) =>
  Array.from({ length: count }, (_, i) => `${i}`.padEnd(999, "-"));

/** Asserts that writes are of whole lines, and of as many as fit into a limit. */
function assertBatches(writes: string[], limit: number): void {
  for (const [index, text] of writes.entries()) {
    assert(text.endsWith("\n"), "The end of a line is missing");
    const isLine = text.indexOf("\n") === text.length - 1;
    assert(text.length <= limit || isLine, `${text.length} bytes at once`);
    const both = text.length + (writes[index - 1]?.length ?? Infinity);
    assert(both > limit, "Two writes fit into one");
  }
}

Deno.test("LineWriter writes lines in batches, 100 ms after the first line", async () => {
  const { write, writes, waits } = createWriter();
  for (const text of ["one\ntwo\n", "three\nfour\n"]) {
    write(text.trimEnd().split("\n"));
    const last = () => writes.at(-1);
    await waitFor(`"${text}" to be written`, last, (it) => it === text);
  }
  assertEquals(waits, [100, 100]);
});

Deno.test("LineWriter writes the rest after a partial write", async () => {
  const take = ({ length }: Uint8Array) => Math.min(length, 3);
  const { writer, write, writes } = createWriter(take);
  write(["21.5°C", "🌡"]);
  await writer.flush();
  assertEquals(writes.join(""), "21.5°C\n🌡\n"); // the last write is a line feed
});

Deno.test("LineWriter drops whole lines beyond its capacity, and says how many", async () => {
  const line = "°".repeat(1023);
  const { writer, write, writes } = createWriter();
  write(["x".repeat(CAPACITY_CHARACTERS)]); // one without room for its line feed
  const kept = CAPACITY_CHARACTERS / 1024;
  write(Array(kept + 7).fill(line));
  await writer.flush();
  write(["after"]);
  await writer.flush();
  const all = `${line}\n`.repeat(kept);
  assert(writes.join("") === `${all}dropped 8\nafter\n`);
});

Deno.test("LineWriter writes whole lines of up to 64 KiB at once", async () => {
  const { writer, write, writes } = createWriter();
  // After an empty line, the first 64 KiB end one byte before the end of a line
  const lengths = [0, ...Array(200).fill(1023), 5, 70_000, 1];
  const lines = lengths.map((length) => "x".repeat(length));
  write(lines);
  await writer.flush();
  assert(writes.join("") === lines.join("\n") + "\n");
  assertBatches(writes, 65_536);
});

Deno.test("LineWriter repeats nothing after a pipe that does not block was full", async () => {
  let received = "";
  let room = 0;
  const { writer, write, writes, waits } = createWriter((bytes) => {
    // A pipe takes up to 4096 bytes whole or not at all
    const isTaken = bytes.length <= room || bytes.length > 4096;
    const part = bytes.subarray(0, isTaken ? room : 0);
    received += new TextDecoder().decode(part);
    room -= part.length;
    if (part.length === bytes.length) return part.length;
    room = 11_000; // its reader reads
    throw new Deno.errors.WouldBlock();
  });
  const lines = createLines(100);
  for (let round = 0; round < 2; round++) {
    write(lines);
    await writer.flush();
    assertBatches(writes.splice(0), 4096);
  }
  assert(received === `${lines.join("\n")}\n`.repeat(2));
  assertEquals(new Set(waits), new Set([100, 10]));
});

Deno.test("LineWriter retries after 500 ms, and repeats only lines that the failed write has taken", async () => {
  let taken = "";
  // How many bytes each write takes; it fails unless it takes all of them
  const parts = [Infinity, 4000, 0, 1500];
  const { writer, write, waits } = createWriter((bytes) => {
    const part = bytes.subarray(0, parts.shift() ?? Infinity);
    taken += new TextDecoder().decode(part);
    if (part.length === bytes.length) return bytes.length;
    throw new Error("No space left on device");
  });
  const lines = createLines(72);
  write(lines);
  await writer.flush();
  const counts = lines.map((line) => taken.split(`${line}\n`).length - 1);
  // A write takes the 65 lines of a batch. The next one takes 4 and fails, and so do smaller
  // ones, one of which takes a line
  assertEquals(counts, [...Array(65).fill(1), 3, 2, 2, 2, 1, 1, 1]);
  assertEquals(waits.filter((wait) => wait !== 100), [500, 500, 500]);
});
