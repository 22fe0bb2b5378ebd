import { assertEquals } from "@std/assert";
import { CAPACITY, LineWriter } from "../../src/line_writer.ts";
import { delay, waitFor, within } from "../helpers/wait.ts";

/** A writer on a sink that takes as many bytes as it is told. */
function writerOn(take: (bytes: Uint8Array) => number | Promise<number>) {
  const decoder = new TextDecoder();
  let written = "";
  const dropped: number[] = [];
  const sink = async (bytes: Uint8Array) => {
    const count = await take(bytes);
    written += decoder.decode(bytes.subarray(0, count), { stream: true });
    return count;
  };
  const writer = new LineWriter(sink, (count) => dropped.push(count));
  return { writer, dropped, written: () => written };
}

Deno.test("CAPACITY is the 8 MiB that the README names", () => {
  assertEquals(CAPACITY, 8 * 1024 * 1024);
});

const takeAll = (bytes: Uint8Array) => bytes.length;

Deno.test("LineWriter writes lines in order", async () => {
  const { writer, written } = writerOn(takeAll);
  writer.write("one");
  writer.write("two");
  await writer.flush();
  assertEquals(written(), "one\ntwo\n");
});

Deno.test("LineWriter writes without being flushed", async () => {
  const { writer, written } = writerOn(takeAll);
  writer.write("one");
  await waitFor(() => written() === "one\n");
  writer.write("two");
  await waitFor(() => written() === "one\ntwo\n");
});

Deno.test("LineWriter writes the rest of what a sink took in part", async () => {
  const { writer, written } = writerOn((bytes) => Math.min(bytes.length, 3));
  writer.write("21.5 °C");
  writer.write("🌡");
  await writer.flush();
  assertEquals(written(), "21.5 °C\n🌡\n");
});

Deno.test("LineWriter writes many lines with few writes", async () => {
  let writes = 0;
  const { writer, written } = writerOn((bytes) => {
    writes++;
    return bytes.length;
  });
  for (let i = 0; i < 1000; i++) writer.write(`line ${i}`);
  await writer.flush();
  assertEquals(writes, 1);
  assertEquals(written().split("\n").length, 1001);
});

Deno.test("LineWriter drops no line while its sink keeps up", async () => {
  const { writer, dropped, written } = writerOn(takeAll);
  const line = "x".repeat(1023);
  const count = 3 * CAPACITY / 1024;
  for (let i = 0; i < count; i++) {
    writer.write(line);
    await null; // the sink goes on, no timer does
  }
  await writer.flush();
  assertEquals(written() === `${line}\n`.repeat(count), true);
  assertEquals(dropped, []);
});

Deno.test("LineWriter writes what comes after a flush of nothing", async () => {
  const { writer, written } = writerOn(takeAll);
  await writer.flush();
  writer.write("one");
  await writer.flush();
  assertEquals(written(), "one\n");
});

Deno.test("LineWriter writes a line within a second", async () => {
  const taken = Promise.withResolvers<void>();
  const { writer } = writerOn((bytes) => {
    taken.resolve();
    return bytes.length;
  });
  writer.write("one");
  await within(taken.promise, () => "it should be written by now", 1000);
});

Deno.test("LineWriter tries a sink that fails about twice a second", async () => {
  const tries: number[] = [];
  const { writer } = writerOn(async (bytes) => {
    if (tries.push(performance.now()) > 3) return bytes.length;
    await delay(0);
    throw new Error("Broken pipe");
  });
  writer.write("one");
  await within(writer.flush(), () => "it should have tried more often", 6000);
  // A timer may be late, but not early
  assertEquals(tries.at(-1)! - tries[0]! > 3 * 400, true);
});

Deno.test("LineWriter keeps its lines for a sink that fails", async () => {
  let failures = 2;
  const { writer, written } = writerOn((bytes) => {
    if (failures-- > 0) throw new Error("No space left on device");
    return bytes.length;
  });
  writer.write("one");
  writer.write("two");
  await writer.flush();
  assertEquals(written(), "one\ntwo\n");
});

/** A writer whose sink is stuck with its first write until there is room. */
function stuckWriter() {
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const { promise: stuck, resolve: isStuck } = Promise.withResolvers<void>();
  const writer = writerOn(async (bytes) => {
    isStuck();
    await room;
    return bytes.length;
  });
  return { ...writer, stuck, makeRoom };
}

for (const excess of [0, 1, 7]) {
  Deno.test(`LineWriter fills its buffer to the last byte, and drops ${excess} lines more`, async () => {
    const { writer, dropped, written, stuck, makeRoom } = stuckWriter();
    const line = "x".repeat(1023);
    const kept = 1 + CAPACITY / 1024;
    writer.write(line);
    writer.flush();
    await stuck; // with the first line
    for (let i = 1; i < kept + excess; i++) writer.write(line);
    makeRoom();
    await writer.flush();
    assertEquals(written() === `${line}\n`.repeat(kept), true);
    assertEquals(dropped, excess ? [excess] : []);
    writer.write("after");
    await writer.flush();
    assertEquals(written().endsWith("x\nafter\n"), true);
    assertEquals(dropped.length, excess ? 1 : 0);
  });
}

Deno.test("LineWriter drops a line that would fit but for its end", async () => {
  const { writer, dropped, written } = writerOn(takeAll);
  writer.write("x".repeat(CAPACITY));
  await writer.flush();
  assertEquals([written(), dropped], ["", []]);
  writer.write("x".repeat(CAPACITY - 1));
  await writer.flush();
  assertEquals(written().length, CAPACITY);
  assertEquals(dropped, [1]);
});

Deno.test("LineWriter drops whole lines where characters take more bytes", async () => {
  const { writer, dropped, written, stuck, makeRoom } = stuckWriter();
  const line = "°".repeat(500);
  writer.write(line);
  writer.flush();
  await stuck;
  for (let i = 1; i < CAPACITY / 500; i++) writer.write(line);
  makeRoom();
  await writer.flush();
  const lines = written().split("\n").slice(0, -1);
  for (const text of lines) assertEquals(text, line);
  assertEquals(lines.length + dropped[0]!, Math.ceil(CAPACITY / 500));
});

Deno.test("LineWriter writes 64 KiB at once, and whole lines", async () => {
  const writes: string[] = [];
  const { writer } = writerOn((bytes) => {
    writes.push(new TextDecoder().decode(bytes));
    return bytes.length;
  });
  const line = "x".repeat(999);
  for (let i = 0; i < 200; i++) writer.write(line);
  await writer.flush();
  assertEquals(writes.join(""), `${line}\n`.repeat(200));
  for (const text of writes) assertEquals(text.endsWith("x\n"), true);
  const most = Math.max(...writes.map((text) => text.length));
  assertEquals(most >= 64 * 1024 && most < 64 * 1024 + 1000, true);
});

Deno.test("LineWriter writes much at once again when a failure is over", async () => {
  let writes = 0;
  const { writer } = writerOn(async (bytes) => {
    if (++writes > 1) return bytes.length;
    await delay(0);
    for (let i = 0; i < 200; i++) writer.write("x".repeat(999));
    throw new Error("No space left on device");
  });
  writer.write("one");
  await writer.flush();
  // The one line again, and 66 of the others at once
  assertEquals(writes, 1 + 1 + Math.ceil(200 / 66));
});

Deno.test("LineWriter repeats only what a sink took before it failed", async () => {
  let taken = "";
  // Of each write in turn: all, a part and no more, one line, half a line …
  const parts = [Infinity, 4000, Infinity, 500];
  const sink = (bytes: Uint8Array) => {
    const part = bytes.subarray(0, parts.shift() ?? Infinity);
    taken += new TextDecoder().decode(part);
    return part.length === bytes.length
      ? Promise.resolve(bytes.length)
      : Promise.reject(new Error("No space left on device"));
  };
  const writer = new LineWriter(sink, () => {});
  const lines = Array.from({ length: 73 }, (_, i) => `${i}`.padEnd(999, "-"));
  for (const line of lines) writer.write(line);
  await writer.flush();
  const counts = lines.map((line) => taken.split(`${line}\n`).length - 1);
  // 66 lines are the first 64 KiB, 4 more were taken by the write that failed
  assertEquals(counts, [...Array(66).fill(1), 2, 2, 2, 2, 1, 1, 1]);
});
