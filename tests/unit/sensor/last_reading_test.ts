// The last reading: its age, its limit, and its time when the clock is set.

import { assert, assertEquals } from "@std/assert";
import { LastReading } from "../../../src/sensor/last_reading.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const DAY_MS = 86_400_000;
const HINT = "look at the sensor";

const AGAIN = "Readings arrive again";

/** Creates a last reading with two clocks. */
function create(maxAgeSeconds = Infinity) {
  const warnings: string[] = [];
  const clocks = { now: 1000, date: START };
  const logger = createTestLogger((line, level) =>
    warnings.push(level === "WARN" ? line : `${level} ${line}`)
  );
  const now = () => clocks.now;
  const wallTime = () => clocks.date;
  const last = new LastReading(maxAgeSeconds, HINT, logger, now, wallTime);
  const pass = (milliseconds: number) => {
    clocks.now += milliseconds;
    clocks.date += milliseconds;
  };
  return { last, warnings, clocks, pass };
}

Deno.test("LastReading is unavailable while it is too old, and logs it once", () => {
  const { last, warnings, pass } = create(1.5);
  last.set("21");
  pass(1500);
  assertEquals(last.read(), { json: "21", time: START });
  const age = (seconds: number) =>
    `The last reading is ${seconds} s old: the limit is 1.5 s (--max-age)`;
  pass(1);
  assertEquals(last.read(), { unavailable: age(1.6) });
  pass(60_000);
  assertEquals(last.read(), { unavailable: age(61.6) });
  last.set("22");
  assertEquals(last.read(), { json: "22", time: START + 61_501 });
  assertEquals(warnings, [age(1.6), AGAIN]);
  pass(1501);
  last.end("ended");
  const unavailable = `${age(1.6)}, and the input has ended`;
  assertEquals(last.read(), { unavailable });
  assertEquals(warnings.length, 3);
});

Deno.test("LastReading logs that no reading has come since the start for as long as one may be old", () => {
  const { last, warnings, pass } = create(1.5);
  const unavailable = `The sensor has sent no reading so far; ${HINT}`;
  for (const [ms, ...logged] of [[1500], [1, unavailable], [1, unavailable]]) {
    pass(ms as number);
    assertEquals(last.read(), { unavailable });
    assertEquals(warnings, logged);
  }
  last.set("21");
  assert("json" in last.read());
  assertEquals(warnings, [unavailable, AGAIN]);
});

Deno.test("LastReading.watch() logs what a client would be told, once a second until the stop", async () => {
  const { last, warnings, pass } = create(2.5);
  const stopper = new AbortController();
  let seconds = 0;
  await last.watch(stopper.signal, (milliseconds) => {
    pass(milliseconds);
    seconds++;
    if (seconds === 5) last.set("21");
    if (seconds === 8) stopper.abort();
    return Promise.resolve();
  });
  assertEquals(seconds, 8);
  const [silence, again, old, ...others] = warnings;
  assertEquals(silence, `The sensor has sent no reading so far; ${HINT}`);
  assertEquals(again, AGAIN);
  assertEquals(
    old,
    "The last reading is 3 s old: the limit is 2.5 s (--max-age)",
  );
  assertEquals(others, []);
});

Deno.test("LastReading.watch() has nothing to do without a limit", async () => {
  const wait = () => Promise.reject(new Error("It waits"));
  await create().last.watch(new AbortController().signal, wait);
});

Deno.test("LastReading returns the same object until the next reading arrives", () => {
  const { last, clocks, pass } = create();
  last.set("21.5");
  const reading = last.read();
  pass(1e12); // without a limit
  clocks.date += 5; // the two clocks are not read at the same time
  assert(last.read() === reading);
  last.set("21.5");
  assert(last.read() !== reading);
});

/** How far the clock is set, in ms. */
const STEPS = [30 * DAY_MS, 10, -10, -30 * DAY_MS];

for (const step of STEPS) {
  Deno.test(`LastReading keeps its age when the clock is set by ${step} ms`, () => {
    const { last, clocks, pass } = create(15);
    last.set("21.5");
    pass(4000);
    clocks.date += step;
    const reading = last.read();
    assertEquals(reading, { json: "21.5", time: START + step });
    pass(11_000);
    assert(last.read() === reading); // the clock was set only once
    pass(1);
    assert("unavailable" in last.read());
  });
}
