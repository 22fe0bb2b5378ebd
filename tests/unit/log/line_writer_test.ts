// The bounded buffer of log lines, with a fake sink and clock.

import { assert, assertEquals } from "@std/assert";
import { CAPACITY_BYTES, LineWriter } from "../../../src/log/line_writer.ts";
import { createLogger } from "../../../src/log/logger.ts";
import { waitFor } from "../../helpers/wait.ts";

/**
 * Creates a writer whose sink takes as many bytes as `take` returns, and fails
 * if `take` throws. Its waits take no time, and are recorded when they end.
 */
function createWriter(
  take = (bytes: Uint8Array): number | Promise<number> => bytes.length,
) {
  const decoder = new TextDecoder();
  const writes: string[] = [];
  const drops: number[] = [];
  const waits: number[] = [];
  const sink = async (bytes: Uint8Array) => {
    const count = await take(bytes);
    writes.push(decoder.decode(bytes.subarray(0, count), { stream: true }));
    return count;
  };
  const wait = async (milliseconds: number) => {
    // Ends after all writes if the writer does not await it
    for (let turns = 0; turns < 100; turns++) await null;
    waits.push(milliseconds);
  };
  const writer = new LineWriter(sink, (count) => drops.push(count), wait);
  return {
    writer,
    writes,
    drops,
    waits,
    written: () => writes.join(""),
    sizes: () => writes.map((text) => text.length),
  };
}

Deno.test("LineWriter writes lines in batches, 100 ms after the first line", async () => {
  const { writer, writes, waits } = createWriter();
  for (const text of ["one\ntwo\n", "three\nfour\n"]) {
    for (const line of text.trimEnd().split("\n")) writer.write(line);
    await waitFor(() => writes.at(-1) === text);
  }
  assertEquals(waits, [100, 100]);
});

Deno.test("LineWriter writes the rest after a partial write", async () => {
  const { writer, written } = createWriter(({ length }) => Math.min(length, 3));
  writer.write("21.5°C");
  writer.write("🌡");
  await writer.flush();
  assertEquals(written(), "21.5°C\n🌡\n"); // the last write is a line feed
});

for (const [character, size] of [["x", 1024], ["°", 2047]] as const) {
  Deno.test(`LineWriter drops whole lines of ${character} beyond its capacity`, async () => {
    const line = character.repeat(1023);
    const blocked = Promise.withResolvers<void>();
    const { writer, drops, written } = createWriter(async (bytes) => {
      await blocked.promise;
      return bytes.length;
    });
    writer.write("first");
    writer.flush();
    const kept = Math.floor(CAPACITY_BYTES / size);
    for (let i = 0; i < kept + 7; i++) writer.write(line);
    blocked.resolve();
    await writer.flush();
    writer.write("after");
    await writer.flush();
    assert(written() === `first\n${`${line}\n`.repeat(kept)}after\n`);
    assertEquals(drops, [7]);
  });
}

Deno.test("LineWriter writes whole lines of at most 64 KiB at once", async () => {
  const { writer, written, sizes } = createWriter();
  // After an empty line, the first 64 KiB end one byte before the end of a line
  const lengths = [0, ...Array(200).fill(1023), 5, 70_000, 1];
  const lines = lengths.map((length) => "x".repeat(length));
  for (const line of lines) writer.write(line);
  await writer.flush();
  assert(written() === lines.join("\n") + "\n");
  const expected = [64_513, 1024, 65_536, 65_536, 8192 + 6, 70_001, 2];
  assertEquals(sizes(), expected);
});

Deno.test("LineWriter writes what a pipe takes whole after a non-blocking sink was full", async () => {
  let failures = 3;
  const { writer, waits, sizes } = createWriter((bytes) => {
    if (failures-- > 0) throw new Deno.errors.WouldBlock();
    return bytes.length;
  });
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 20; i++) writer.write("x".repeat(999));
    writer.write("x".repeat(5000));
    await writer.flush();
  }
  const atomic = [4000, 4000, 4000, 4000, 4000, 5001];
  assertEquals(sizes(), [...atomic, ...atomic]);
  assertEquals(waits.filter((wait) => wait !== 100), [10, 10, 10]);
});

Deno.test("LineWriter writes lines in batches again after a failure", async () => {
  let hasFailed = false;
  const { writer, sizes } = createWriter(async (bytes) => {
    if (hasFailed) return bytes.length;
    hasFailed = true;
    await null; // sinks never call back synchronously
    for (let i = 0; i < 200; i++) writer.write("x".repeat(999));
    throw new Error("No space left on device");
  });
  writer.write("one");
  await writer.flush();
  assertEquals(sizes(), [4, 65_000, 65_000, 65_000, 5000]);
});

Deno.test("LineWriter retries after 500 ms, and repeats only lines that the failed write has taken", async () => {
  let taken = "";
  // How many bytes each write takes; it fails unless it takes all of them
  const parts = [Infinity, Infinity, 4000, 0, 1500, 500];
  const { writer, waits } = createWriter((bytes) => {
    const part = bytes.subarray(0, parts.shift() ?? Infinity);
    taken += new TextDecoder().decode(part);
    if (part.length === bytes.length) return bytes.length;
    throw new Error("No space left on device");
  });
  const lines = Array.from({ length: 73 }, (_, i) => `${i}`.padEnd(999, "-"));
  for (const line of lines) writer.write(line);
  await writer.flush();
  const counts = lines.map((line) => taken.split(`${line}\n`).length - 1);
  // Two writes take the 66 lines that start a batch. The third takes 4 and fails
  assertEquals(counts, [...Array(66).fill(1), 2, 2, 2, 2, 1, 1, 1]);
  assertEquals(waits.filter((wait) => wait !== 100), [500, 500, 500]);
});

Deno.test("createLogger() logs that it dropped a line of which only the line feed did not fit", async () => {
  let log = "";
  const sink = (bytes: Uint8Array) => {
    log += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const { logger, flush } = createLogger(sink, "INFO", "plain");
  for (const line of ["x".repeat(CAPACITY_BYTES), "21.5"]) logger.info(line);
  await flush();
  const warning = "WARN Log lines dropped because the output is too slow: 1";
  assertEquals(log, `21.5\n${warning}\n`);
});
