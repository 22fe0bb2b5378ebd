// The watch: what is logged of sensors although no client asks.

import { assertEquals } from "@std/assert";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { Watch } from "../../../src/sensor/watch.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

const HINT = "it may be asleep";
const SILENT = `The sensor has sent no reading so far; ${HINT}`;
const AGAIN = "Readings arrive again";
const logged = (problem: string) => `No current reading: ${problem}`;
const age = (seconds: number) =>
  `The last reading is ${seconds} s old: the limit is 1.5 s (--max-age)`;
const fellSilent = (name: string, count: number) =>
  `No longer serving sensors that are silent for 1.5 s (--max-age), such as "${name}" (count: ${count}). If it logs no reason, its program may hang (restart datasensor), or its battery is empty`;
const back = (name: string, count: number) =>
  `Sensors send readings again, such as "${name}" (count: ${count})`;

/**
 * Watches readings for some seconds, before each of which a function is called with the
 * number of the second. Returns each warning, after the second in which it was logged.
 */
async function watch(
  seconds: number,
  act: (readings: LastReadings, second: number, clock: TestClock) => void,
): Promise<[second: number, warning: string][]> {
  const clock = new TestClock();
  const warnings: [number, string][] = [];
  let second = -1;
  const logger = createTestLogger((line, level) => {
    assertEquals(level, "WARN");
    warnings.push([second, line]);
  });
  const readings = new LastReadings(1.5, HINT, clock);
  const stopper = new AbortController();
  clock.delay = (milliseconds) => {
    assertEquals(milliseconds, 1000);
    second++;
    act(readings, second, clock);
    clock.pass(1000);
    if (second === seconds - 1) stopper.abort();
    return Promise.resolve();
  };
  await new Watch(readings, 1.5, logger, clock).run(stopper.signal);
  assertEquals(second, seconds - 1);
  return warnings;
}

Deno.test("Watch logs that no reading has come since the start, that one comes, and the next problem a minute later", async () => {
  const warnings = await watch(62, (readings, second) => {
    if (second === 4) readings.set("21");
  });
  assertEquals(warnings, [[1, logged(SILENT)], [4, AGAIN], [
    61,
    logged(age(58)),
  ]]);
});

Deno.test("Watch logs which of several sensors fall silent, and which are back, once a minute", async () => {
  const warnings = await watch(70, (readings, second) => {
    readings.set("1", "healthy");
    const isHealthy = second < 5 || second > 8 && second < 63;
    // Back at 66, but silent again before that may be logged
    if (isHealthy || second === 66) readings.set("1", "kitchen");
    if (second < 6 || second > 9) readings.set("1", "attic"); // back within the minute
    if (second % 10 === 0) readings.set("1", `car ${second}`); // is not missed
  });
  assertEquals(warnings, [
    [5, fellSilent("kitchen", 1)],
    [9, back("kitchen", 1)],
    [65, fellSilent("kitchen", 1)],
  ]);
});

Deno.test("Watch logs once that sensors send more rarely than the maximum age", async () => {
  const warnings = await watch(200, (readings, second) => {
    readings.set("1", "healthy");
    if (second % 5 === 0) readings.set("1", "attic");
    readings.set("1", `car ${second}`);
  });
  assertEquals(warnings, [[
    5,
    'Sensors send more rarely than every 1.5 s (--max-age), such as "attic". Unless they only pass by, set --max-age to two or three times their interval',
  ]]);
});

Deno.test("Watch logs all names since the last minute, and that no sensor is left at once", async () => {
  const warnings = await watch(63, (readings, second) => {
    if (second < 2) readings.set("1", "a");
    if (second < 3) readings.set("1", "\x9b");
    if (second < 4) readings.set("1", "c");
  });
  assertEquals(warnings, [
    [2, fellSilent("a", 1)],
    [4, logged(age(2))],
    [62, fellSilent("\\u009b", 2)], // a control character
  ]);
});

Deno.test("Watch logs sensors that are forgotten for lack of room, but not that they are silent", async () => {
  const long = "1".repeat(40_000);
  const warnings = await watch(2, (readings, second) => {
    readings.set(long, `\x9b${second}`);
  });
  const problem =
    "Forgetting the sensors that have been silent longest, since all lines together exceed 64 KiB";
  assertEquals(warnings, [[1, String.raw`${problem}, such as "\u009b0"`]]);
});
