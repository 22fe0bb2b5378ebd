// How fast lines are read. input_test.ts shows which lines are.

import { assertEquals } from "@std/assert";
import { MAX_LINE_BYTES, readLines } from "../../../src/sensor/line_reader.ts";
import { TestClock } from "../../helpers/test_clock.ts";

/** Reads a text whose lines each take some time, in ms, to process. */
async function read(text: string, processingTime = (_line: number) => 0) {
  const clock = new TestClock();
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
  let restedMs = 0;
  clock.delay = (milliseconds) => {
    restedMs += milliseconds;
    return Promise.resolve();
  };
  for await (const { invalid } of readLines(input, clock)) {
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
  const result = await read("x\n".repeat(100), () => 2);
  assertEquals(result, { lines: 100, drops: 0, restedMs: 100 * 5 + 5 });
});

Deno.test("readLines() rests once after a line that takes long", async () => {
  const takeLong = (line: number) => line === 0 ? 1000 : 0;
  const result = await read("x\n".repeat(1000), takeLong);
  assertEquals(result, { lines: 1000, drops: 0, restedMs: 5 + 5 });
});
