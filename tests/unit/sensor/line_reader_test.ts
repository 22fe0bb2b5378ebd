// How fast lines are read. input_test.ts shows which lines are.

import { assert, assertEquals } from "@std/assert";
import { MAX_LINE_BYTES, readLines } from "../../../src/sensor/line_reader.ts";

/** Reads a text whose lines each take some time, in ms, to process. */
async function read(text: string, processingTime = (_line: number) => 0) {
  let now = 0;
  let rest = new TextEncoder().encode(text);
  const input = {
    read(bytes: Uint8Array) {
      const count = Math.min(rest.length, bytes.length);
      bytes.set(rest.subarray(0, count));
      rest = rest.subarray(count);
      return Promise.resolve(count || null);
    },
  };
  let lines = 0;
  let drops = 0;
  const start = performance.now();
  for await (const _line of readLines(input, () => drops++, () => now)) {
    now += processingTime(lines++);
  }
  return { lines, drops, duration: performance.now() - start };
}

Deno.test("readLines() reads 1 MB a second at most, and drops an endless line once", async () => {
  const text = "x".repeat(4 * (MAX_LINE_BYTES + 2));
  const { lines, drops, duration } = await read(text);
  assertEquals([lines, drops], [0, 1]);
  assert(duration > 250, `It took ${duration} ms`);
});

Deno.test("readLines() pauses while many lines are processed", async () => {
  const { lines, duration } = await read("x\n".repeat(100), () => 2);
  assertEquals(lines, 100);
  assert(duration > 450, `It took ${duration} ms`);
});

Deno.test("readLines() pauses once after a line that takes long", async () => {
  const takeLong = (line: number) => line === 0 ? 1000 : 0;
  const { lines, duration } = await read("x\n".repeat(1000), takeLong);
  assertEquals(lines, 1000);
  assert(duration < 4000, `It took ${duration} ms`); // 1000 pauses take 5000 ms
});
