// The bounded buffer of log lines, with a fake sink and clock.

import { assert, assertEquals } from "@std/assert";
import { CAPACITY_BYTES, LineWriter } from "../../src/line_writer.ts";
import { waitFor } from "../helpers/wait.ts";

const takeAll = (bytes: Uint8Array): number => bytes.length;

/**
 * Creates a writer whose sink takes as many bytes as `take` returns, and fails
 * if `take` throws. Its waits are recorded, and end at once.
 */
function createWriter(
  take: (bytes: Uint8Array) => number | Promise<number> = takeAll,
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
  const wait = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  const writer = new LineWriter(sink, (count) => drops.push(count), wait);
  return { writer, writes, drops, waits, written: () => writes.join("") };
}

/** A line of 1 KiB, without its line feed. */
const KIBIBYTE = "x".repeat(1023);
const kibibytes = (count: number) => `${KIBIBYTE}\n`.repeat(count);

Deno.test("LineWriter writes lines in batches, 100 ms after the first line", async () => {
  const { writer, writes, waits } = createWriter();
  for (const text of ["one\ntwo\n", "three\nfour\n"]) {
    for (const line of text.trimEnd().split("\n")) writer.write(line);
    await waitFor(() => writes.at(-1) === text);
  }
  assertEquals(waits, [100, 100]);
});

Deno.test("LineWriter writes the rest after a partial write", async () => {
  const { writer, written } = createWriter((bytes) =>
    Math.min(bytes.length, 3)
  );
  writer.write("21.5 °C");
  writer.write("🌡");
  await writer.flush();
  assertEquals(written(), "21.5 °C\n🌡\n");
});

/** Creates a writer whose sink blocks on the line "first" until `unblock()`. */
async function createStuckWriter() {
  const { promise, resolve: unblock } = Promise.withResolvers<void>();
  const created = createWriter((bytes) => promise.then(() => bytes.length));
  created.writer.write("first");
  created.writer.flush();
  await null;
  return { ...created, unblock };
}

for (const excess of [0, 7]) {
  const does = excess ? `drops ${excess} lines beyond` : "fills";
  Deno.test(`LineWriter ${does} its capacity`, async () => {
    const { writer, drops, written, unblock } = await createStuckWriter();
    const kept = CAPACITY_BYTES / 1024;
    for (let i = 0; i < kept + excess; i++) writer.write(KIBIBYTE);
    unblock();
    await writer.flush();
    assert(written() === `first\n${kibibytes(kept)}`);
    assertEquals(drops, excess ? [excess] : []);
    writer.write("after");
    await writer.flush();
    assertEquals(written().endsWith("x\nafter\n"), true);
    assertEquals(drops.length, excess ? 1 : 0);
  });
}

Deno.test("LineWriter drops a line if only its line feed does not fit", async () => {
  const { writer, drops, written } = createWriter();
  writer.write("x".repeat(CAPACITY_BYTES));
  await writer.flush();
  assertEquals([written(), drops], ["", []]);
  writer.write("x".repeat(CAPACITY_BYTES - 1));
  await writer.flush();
  assertEquals(written().length, CAPACITY_BYTES);
  assertEquals(drops, [1]);
});

Deno.test("LineWriter drops whole lines of multibyte characters", async () => {
  const { writer, drops, written, unblock } = await createStuckWriter();
  const line = "°".repeat(500);
  const count = Math.ceil(CAPACITY_BYTES / 500);
  for (let i = 0; i < count; i++) writer.write(line);
  unblock();
  await writer.flush();
  const kept = count - drops[0]!;
  assert(written() === `first\n${`${line}\n`.repeat(kept)}`);
});

Deno.test("LineWriter writes whole lines of at most 64 KiB at once", async () => {
  const { writer, writes } = createWriter();
  const lines = [
    ...Array(200).fill(KIBIBYTE),
    "short",
    "x".repeat(70_000),
    "1",
  ];
  for (const line of lines) writer.write(line);
  await writer.flush();
  assert(writes.join("") === lines.join("\n") + "\n");
  assertEquals(writes.map((text) => text.length), [
    ...[65_536, 65_536, 65_536, 8 * 1024 + 6],
    70_001,
    2,
  ]);
});

Deno.test("LineWriter writes what a pipe takes whole after a non-blocking sink was full", async () => {
  let failures = 3;
  const { writer, waits, writes } = createWriter((bytes) => {
    if (failures-- > 0) throw new Deno.errors.WouldBlock();
    return bytes.length;
  });
  const lines = Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(999, "-"));
  for (const line of [...lines, "x".repeat(5000)]) writer.write(line);
  await writer.flush();
  writer.write(lines[0]!);
  for (const line of lines) writer.write(line);
  await writer.flush();
  const sizes = [...Array(5).fill(4000), 5001];
  assertEquals(writes.map((text) => text.length), [
    ...sizes,
    ...sizes.slice(0, 5),
    1000,
  ]);
  assertEquals(waits.filter((wait) => wait !== 100), [10, 10, 10]);
});

Deno.test("LineWriter retries every 500 ms while its sink fails", async () => {
  let failures = 3;
  const { writer, waits, written } = createWriter((bytes) => {
    if (failures-- > 0) throw new Error("Broken pipe");
    return bytes.length;
  });
  writer.write("one");
  writer.write("two");
  await writer.flush();
  assertEquals(written(), "one\ntwo\n");
  assertEquals(waits.filter((wait) => wait !== 100), [500, 500, 500]);
});

Deno.test("LineWriter writes lines in batches again after a failure", async () => {
  let hasFailed = false;
  const { writer, writes } = createWriter(async (bytes) => {
    if (hasFailed) return bytes.length;
    hasFailed = true;
    await null; // sinks never call back synchronously
    for (let i = 0; i < 200; i++) writer.write("x".repeat(999));
    throw new Error("No space left on device");
  });
  writer.write("one");
  await writer.flush();
  assertEquals(writes.length, 1 + Math.ceil(200 / 65));
});

Deno.test("LineWriter repeats only the lines that a failed write has taken", async () => {
  let taken = "";
  // How many bytes each write takes; it fails unless it takes all of them
  const parts = [Infinity, Infinity, 4000, 1500, 500];
  const { writer } = createWriter((bytes) => {
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
});
