// The last readings: their age and its limit, their time when the clock is set, and those of
// several sensors.

import { assert, assertEquals } from "@std/assert";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { TestClock } from "../../helpers/test_clock.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

const START = Date.UTC(2026, 10, 20, 17, 14, 56);
const DAY_MS = 86_400_000;
const AGAIN = "Readings arrive again";
const HINT = "its messages may say why";
const SILENT = `The sensor has sent no reading so far; ${HINT}`;

/** Creates last readings with two clock. */
function create({ maxAgeSeconds = 1.5 } = {}) {
  const warnings: string[] = [];
  const clock = new TestClock(1000, START);
  const logger = createTestLogger((line, level) => {
    assertEquals(level, "WARN");
    warnings.push(line);
  });
  const readings = new LastReadings(
    maxAgeSeconds,
    HINT,
    logger,
    clock,
  );
  const pass = (milliseconds: number) => clock.pass(milliseconds);
  /** Returns the JSON text to serve, or why there is none. */
  const serve = () => {
    const reading = readings.read();
    return "json" in reading ? reading.json : reading.unavailable;
  };
  /** Lets the watch look once, and returns all warnings so far. */
  const look = async () => {
    const stopper = new AbortController();
    clock.delay = () => Promise.resolve(stopper.abort());
    await readings.watch(stopper.signal);
    return warnings;
  };
  return { readings, warnings, clock, pass, serve, look };
}

const logged = (problem: string) => `No current reading: ${problem}`;
const age = (seconds: number) =>
  `The last reading is ${seconds} s old: the limit is 1.5 s (--max-age)`;

Deno.test("LastReadings are unavailable while the last one is too old", () => {
  const { readings, warnings, pass } = create();
  readings.set("21");
  pass(1500);
  assertEquals(readings.read(), { json: "21", time: START });
  pass(1);
  assertEquals(readings.read(), { unavailable: age(1.6) });
  pass(60_000);
  assertEquals(readings.read(), { unavailable: age(61.6) });
  readings.set("22");
  assertEquals(readings.read(), { json: "22", time: START + 61_501 });
  pass(1501);
  readings.end("ended");
  const unavailable = `${age(1.6)}, and the input has ended`;
  assertEquals(readings.read(), { unavailable });
  assertEquals(warnings, []); // whoever reads, logs nothing
});

Deno.test("LastReadings.watch() logs that none has come since the start for as long as one may be old", async () => {
  const { readings, pass, serve, look } = create();
  for (const [ms, count] of [[1500, 0], [1, 1], [9000, 1]] as const) {
    pass(ms);
    assertEquals(serve(), SILENT);
    assertEquals(await look(), Array(count).fill(logged(SILENT)));
  }
  readings.set("21");
  assertEquals(await look(), [logged(SILENT), AGAIN]);
});

Deno.test("LastReadings.watch() logs what a client would be told, once a second until the stop", async () => {
  const { readings, warnings, clock, pass } = create();
  const stopper = new AbortController();
  const waits: number[] = [];
  clock.delay = (milliseconds) => {
    pass(milliseconds);
    waits.push(milliseconds);
    if (waits.length === 5) readings.set("21");
    if (waits.length === 62) stopper.abort(); // a minute after the first problem
    return Promise.resolve();
  };
  await readings.watch(stopper.signal);
  assertEquals(waits, Array(62).fill(1000));
  assertEquals(warnings, [logged(SILENT), AGAIN, logged(age(57))]);
});

Deno.test("LastReadings.watch() logs readings that come and go once a minute", async () => {
  const { readings, pass, look } = create();
  for (let second = 0; second < 60; second += 2) {
    readings.set("21");
    await look();
    pass(2000);
    await look();
  }
  assertEquals(await look(), [logged(age(2)), AGAIN]);
  pass(1999); // 59,999 ms after the first one
  assertEquals((await look()).length, 2);
  pass(1);
  assertEquals((await look())[2], logged(age(4)));
});

for (const name of [undefined, "kitchen"]) {
  const which = name ? "all sensors" : "one sensor";
  Deno.test(`LastReadings return the same object of ${which} until the next line arrives`, () => {
    const { readings, clock, pass } = create({ maxAgeSeconds: Infinity });
    readings.set("21.5", name);
    const reading = readings.read();
    pass(1e12); // without a limit
    clock.wallMs += 5; // the two clock are not read at the same time
    assert(readings.read() === reading);
    readings.set("21.5", name);
    assert(readings.read() !== reading);
  });
}

/** How far the clock is set, in ms. */
const STEPS = [30 * DAY_MS, 10, -10, -30 * DAY_MS];

for (const step of STEPS) {
  Deno.test(`LastReadings keep their age when the clock is set by ${step} ms`, () => {
    const { readings, clock, pass } = create({ maxAgeSeconds: 15 });
    readings.set("21.5");
    pass(4000);
    assertEquals(readings.read(), { json: "21.5", time: START });
    clock.wallMs += step;
    const reading = readings.read();
    assertEquals(reading, { json: "21.5", time: START + step });
    pass(11_000);
    assert(readings.read() === reading); // the clock was set only once
    pass(1);
    assert("unavailable" in readings.read());
  });
}

const NO_LONGER =
  "No longer serving sensors that are silent for 1.5 s (--max-age), such as ";

Deno.test("LastReadings serve the last line of each sensor, byte for byte, the latest first", () => {
  const { readings, pass, clock } = create();
  readings.set('{"t": 1.50}', "kitchen");
  pass(100);
  readings.set('{"id":7}', "7");
  pass(100);
  readings.set('{"t":2}', "attic");
  pass(100);
  readings.set("{ }", "kitchen");
  clock.wallMs += DAY_MS; // for all of them
  const time = START + DAY_MS;
  const kitchen = { json: "{ }", time: time + 300 };
  const attic = { json: '{"t":2}', time: time + 200 };
  const seven = { json: '{"id":7}', time: time + 100 };
  const reading = readings.read();
  assertEquals(reading, {
    json: '{"kitchen":{ },"attic":{"t":2},"7":{"id":7}}',
    time: time + 300,
    sensors: new Map(Object.entries({ kitchen, attic, "7": seven })),
  });
  assert("sensors" in reading);
  const names = reading.sensors?.keys().toArray();
  assertEquals(names, ["kitchen", "attic", "7"]);
});

Deno.test("LastReadings serve any name as a key", () => {
  for (const name of ['a"b\\', "a.b", "__proto__", "\n\x1b\ud800", "°"]) {
    const { readings, serve } = create();
    readings.set("{}", name);
    readings.set('{"a":1}', name);
    const entries = Object.entries(JSON.parse(serve()));
    assertEquals(entries, [[name, { a: 1 }]]);
  }
});

Deno.test("LastReadings leave out a sensor of three that dies, and the watch logs it", async () => {
  const { readings, pass, serve, look, warnings } = create();
  for (const name of ["a", "b", "\x1bc"]) readings.set(`"${name}"`, name);
  for (let half = 0; half < 4; half++) {
    pass(500);
    for (const name of ["a", "b"]) readings.set("1", name);
  }
  assertEquals([serve(), warnings], ['{"b":1,"a":1}', []]);
  const silent = [String.raw`${NO_LONGER}"\u001bc" (count: 1)`];
  assertEquals(await look(), silent); // although a client was the first to notice
  readings.set("2", "\x1bc");
  assertEquals(serve(), '{"\\u001bc":2,"b":1,"a":1}');
  assertEquals(await look(), silent);
});

Deno.test("LastReadings.watch() logs silent sensors once a minute, and that none is left at once", async () => {
  const { readings, pass, look, warnings } = create();
  for (const name of ["a", "b", "c", "d"]) {
    readings.set("1", name);
    pass(1000);
    await look();
  }
  assertEquals(warnings, [`${NO_LONGER}"a" (count: 1)`]);
  pass(600);
  await look();
  assertEquals(warnings, [`${NO_LONGER}"a" (count: 1)`, logged(age(1.6))]);
  pass(57_399); // 59,999 ms after the first one
  assertEquals((await look()).length, 2);
  pass(1);
  assertEquals((await look())[2], `${NO_LONGER}"d" (count: 3)`);
  pass(60_000);
  assertEquals((await look()).length, 3);
});

const TOO_MANY =
  "No longer serving the sensors that have been silent longest, since all lines together exceed 64 KiB";

Deno.test("LastReadings leave out the sensors that have been silent longest beyond 64 KiB", () => {
  const { readings, warnings, serve } = create();
  const line = "1".repeat(125); // 128 characters with its name
  for (let number = 100; number < 612; number++) {
    readings.set(line, `${number}`);
  }
  readings.set(line, "100"); // replaces its line
  const names = () => serve().match(/(?<=")\d+(?=":)/g)!;
  assertEquals([names().length, warnings], [512, []]);
  for (const name of ["612", "613", "614"]) readings.set(line, name);
  assertEquals([names().length, names().at(-1)], [512, "104"]);
  assertEquals(warnings, [`${TOO_MANY}, such as "101"`]);
});

Deno.test("LastReadings keep the latest line, however long", () => {
  const long = "1".repeat(64 * 1024 + 1);
  const { readings, warnings, serve } = create();
  readings.set("1", "a");
  readings.set(long, "b");
  assertEquals(serve(), `{"b":${long}}`);
  assertEquals(warnings, [`${TOO_MANY}, such as "a"`]);
  const single = create();
  single.readings.set(long);
  assertEquals([single.serve(), single.warnings], [long, []]);
});
