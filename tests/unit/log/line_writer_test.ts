// The bounded buffer of the log's lines, with a fake sink and clock.

import { assert, assertEquals } from "@std/assert";
import { CAPACITY_BYTES } from "../../../src/log/line_writer.ts";
import { createLogger } from "../../../src/log/logger.ts";
import { TestClock } from "../test_clock.ts";

/** Creates a writer whose sink takes as many bytes as `take` returns, or fails if it throws. */
function createWriter(take = ({ length }: Uint8Array) => length) {
  const clock = new TestClock();
  const decoder = new TextDecoder();
  const taken: string[] = [];
  const sink = (bytes: Uint8Array) =>
    Promise.try(() => {
      const part = bytes.subarray(0, take(bytes));
      taken.push(decoder.decode(part, { stream: true }));
      return part.length;
    });
  const { writer } = createLogger(sink, "INFO", "journal", clock);
  const write = (...lines: string[]) =>
    lines.forEach((line) => writer.write(line));
  const flush = async (milliseconds = 60_000) => {
    const flushed = writer.flush();
    await clock.pass(milliseconds);
    await flushed;
  };
  return { clock, write, flush, taken };
}

Deno.test("LineWriter drops whole lines beyond its capacity, and says how many", async () => {
  let count = 1; // of the bytes that the first write takes: no room for a line
  const { write, flush, taken } = createWriter(({ length }) => {
    const part = Math.min(count, length);
    count = Infinity;
    return part;
  });
  write("x".repeat(CAPACITY_BYTES)); // without room for its line feed
  const kept = CAPACITY_BYTES / 1024;
  const line = `${"°".repeat(511)}x`; // of 1024 bytes, with its line feed
  write(...Array(kept + 7).fill(line));
  await flush();
  write("after");
  await flush();
  const dropped =
    "<4>WARN Log lines dropped because the output is too slow: 8\n";
  assert(taken.join("") === `${line}\n`.repeat(kept) + dropped + "after\n");
});

Deno.test("LineWriter does not wait for more lines when it is flushed", async () => {
  const { clock, write, flush, taken } = createWriter();
  write("early");
  await clock.pass(99);
  assertEquals(taken, []);
  write("late");
  await flush(0);
  assertEquals(taken, ["early\nlate\n"]);
});

Deno.test("LineWriter writes up to 64 KiB at once, and a longer line by itself", async () => {
  const { write, flush, taken } = createWriter();
  // After an empty line, the first 64 KiB end one byte before the end of a line
  const lengths = [0, ...Array(200).fill(1023), 5, 70_000, 1];
  write(...lengths.map((length) => "x".repeat(length)));
  await flush();
  const sizes = taken.map((text) => text.length);
  assertEquals(sizes, [64_513, 65_536, 65_536, 9222, 70_001, 2]);
});

const FAILURES = [
  [new Error("No space left on device"), 500],
  [new Deno.errors.WouldBlock(), 10],
] as const;

for (const [error, ms] of FAILURES) {
  Deno.test(`LineWriter retries ${ms} ms after ${error}, and repeats only lines that the failed write has taken`, async () => {
    let taken = "";
    // How many bytes each write takes; it fails unless it takes all of them
    const parts = [Infinity, 6000, 0, 5500];
    const { clock, write } = createWriter((bytes) => {
      const part = bytes.subarray(0, parts.shift() ?? Infinity);
      taken += new TextDecoder().decode(part);
      if (part.length === bytes.length) return bytes.length;
      throw error;
    });
    // Different lines of 1000 bytes, with their ends
    const lines = Array.from({ length: 72 }, (_, i) => `${i}`.padEnd(999, "-"));
    write(...lines);
    await clock.pass(100 + 2 * ms - 1);
    assert(!taken.includes("71-"));
    await clock.pass(1);
    const counts = lines.map((line) => taken.split(`${line}\n`).length - 1);
    // A write takes the 65 lines of a batch. The next one takes 6 and fails, as does one that
    // takes nothing; then, writes are so small that the first 4 are repeated only once
    assertEquals(counts, [...Array(65).fill(1), 2, 2, 2, 2, 2, 2, 1]);
  });
}
