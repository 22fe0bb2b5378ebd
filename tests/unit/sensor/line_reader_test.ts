// How fast an input is read. tests/unit/sensor_lines_test.ts has its lines.

import { assertEquals } from "@std/assert";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_rules.ts";
import { isBlank, readLines } from "../../../src/sensor/line_reader.ts";
import { TestClock } from "../test_clock.ts";
import { TestInput } from "../test_input.ts";

Deno.test("readLines() rests after each KiB, so that requests get a turn and a flood waits", async () => {
  const clock = new TestClock();
  const input = new TestInput();
  const endless = "x".repeat(MAX_LINE_BYTES + 2);
  input.push(endless.repeat(2), "\n", "y".repeat(1023) + "\nz\n", null);
  const countLines = async () => {
    let count = 0;
    for await (const { bytes } of readLines(input, clock)) {
      if (!isBlank(bytes)) count++;
    }
    return count;
  };
  let count = 0; // until all are read
  countLines().then((all) => count = all);
  await clock.pass(5 * (2 * 65 + 1 + 2) - 1);
  assertEquals(count, 0);
  await clock.pass(1);
  assertEquals(count, 1 + 2); // what is too long is dropped once
});
