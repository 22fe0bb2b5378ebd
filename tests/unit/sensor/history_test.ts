// The history of a day, whose clocks a test moves.

import { assertEquals } from "@std/assert";
import { History } from "../../../src/sensor/history.ts";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { TestClock } from "../test_clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SAMPLE_MS = 10_000; // the program does so once a second

/** A service that is sampled in time. */
class Simulation extends TestClock {
  override monotonicMs = 0;
  override wallMs = Date.UTC(2026, 10, 26, 12);
  readonly readings: LastReadings;
  readonly history = new History(this);

  constructor(maxAgeSeconds = 300) {
    super();
    this.readings = new LastReadings(true, maxAgeSeconds, "", this);
  }

  /** Prints a reading, again after each period, while time passes. */
  run(duration: number, json = "", name?: string, period = MINUTE): this {
    for (let passed = 0; passed < duration; passed += SAMPLE_MS) {
      if (json && passed % period === 0) this.readings.set(json, name);
      this.history.sample(this.readings.snapshot());
      this.skip(SAMPLE_MS);
    }
    return this;
  }

  /** Looks once more, which closes a slot at its end, and returns the lines of the CSV text. */
  get lines(): string[] {
    this.history.sample(this.readings.snapshot());
    const text = new TextDecoder().decode(this.history.csv());
    assertEquals(text.slice(-2), "\r\n");
    return text.slice(0, -2).split("\r\n");
  }

  /** Returns the cells of each row, without the time. */
  get cells(): string[] {
    return this.lines.slice(1).map((line) => line.replace(/^[^,]*,?/, ""));
  }
}

Deno.test("History has the lowest, mean and highest of each five minutes, after these", () => {
  assertEquals(new Simulation().run(4 * MINUTE, "7").lines, ["time"]);
  const { lines } = new Simulation().run(4 * MINUTE, '{"t":20,"on":true}')
    .run(MINUTE, '{"t":25.5,"on":false}').run(5 * MINUTE, '{"t":-1e300}')
    .run(5 * MINUTE, '{"t":-1}');
  assertEquals(lines, [
    "time,min on,mean on,max on,min t,mean t,max t",
    "2026-11-26T12:05:00Z,0,0.8,1,20,21.1,25.5",
    "2026-11-26T12:10:00Z,,,,-1e+300,-1e+300,-1e+300",
    "2026-11-26T12:15:00Z,,,,-1,-1,-1",
  ]);
});

const LONG = "k".repeat(399);

/** Sensors, their readings, and the only column of a lowest number. */
const SERIES: [name: string | undefined, json: string, column: string][] = [
  [undefined, '" 21.5\\r"', "min"],
  [undefined, '{"":1,"t":"21.5","no":null}', "min "],
  [undefined, '{"a.b":[1],"a":{"b":[2]}}', "min a.b.0"],
  ['a,"=1', '{"b\\r\\n":1}', '"min a,""=1: b%0D%0A"'],
  ["a", '{"b: c":1}', "min a: b: c"],
  ["a: b", '{"c":1}', "min a%3A b: c"],
  ["a%3A b;%25", '{"50%%25":1}', "min a%253A b%3B%2525: 50%%2525"],
  ["\ud800", '{"\\udfff":1,"\\udffe":1}', "min \ufffd: \ufffd"],
  ["x", `{"${LONG}":1,"${LONG}l":1}`, `min x: ${LONG}`],
];

Deno.test("History names the columns of numbers, and leaves out those with long names", () => {
  for (const [name, json, column] of SERIES) {
    const { lines } = new Simulation().run(5 * MINUTE, json, name);
    const text = lines.join("\r\n");
    assertEquals(text.slice(0, 6 + column.length), `time,${column},`);
    assertEquals(text.match(/,"?min/g)!.length, 1);
  }
});

/** Numbers in two samples, and their cells. */
const CELLS: [a: string, b: string, cells: string][] = [
  ["1e300", "1e300", "1e+300,1e+300,1e+300"],
  ["31234567", "31234568", "31234567,31234567.5,31234568"],
  ["1234567890.5", "1234567891", "1234567890.5,1234567891,1234567891"],
  ["1", "1.000000001", "1,1,1.000000001"],
  ["1.7e308", "-1.7e308", "-1.7e+308,0,1.7e+308"],
  ["9007199254740993", "-0", "0,4503599627370496,9007199254740992"],
];

Deno.test("History has numbers as they are, and means with nine digits or an integer part", () => {
  for (const [a, b, cells] of CELLS) {
    const simulation = new Simulation().run(SAMPLE_MS, a).run(SAMPLE_MS, b);
    simulation.skip(5 * MINUTE);
    assertEquals(simulation.cells, [cells]);
  }
});

/** Degrees in samples, their cells, and the keys of which this is true. */
const DIRECTIONS: [degrees: number[], cells: string, keys?: string][] = [
  [[350, 10], "10,0,350"],
  [[350, 10], "10,180,350", "windowdirection windshield_angle winding_angle"],
  [[350, 10], "10,180,350", "unwind_angle augustdir disgust_angle winddirty"],
  [[350, 10], "10,180,350", "windChillDegrees windchilldeg t_degC direction"],
  [[350, 10], "10,0,350", "winddir winddir_avg2m WIND_DIR wind.deg gust_deg"],
  [[350, 10], "10,0,350", "windgustdir_10m windgustdir_avg10m windDir10m"],
  [[350, 10], "10,0,350", "wind_bearing wind.direction wind_from_direction"],
  [[350, 10], "10,0,350", "WindAngle GustAngle maxGustAngle windDeg"],
  [[350, 10], "10,0,350", "windDirectionDegrees wind_direction_avg_2_minutes"],
  [[350, 10], "10,0,350", "wind_direction_10m_above_ground"],
  [[359.9999999], "359.9999999,0,359.9999999"],
  [[10, 350, 20], "10,6.666667,350"],
  [[359, 359, 1, 1], "1,0,359"],
  [[200, 170], "170,185,200"],
  [[360, 720.5], "360,0.25,720.5"],
  [[-33.86882], "-33.86882,-33.86882,-33.86882"],
  [[-170, 170, 160], "-170,173.333333,170"],
  [[1e308, 1e308], "1e+308,296,1e+308"],
];

Deno.test("History has means that turn the shorter way of directions", () => {
  for (const [degrees, cells, keys = "wind_deg"] of DIRECTIONS) {
    for (const key of keys.split(" ")) {
      const simulation = new Simulation();
      for (const degree of degrees) {
        simulation.run(SAMPLE_MS, `{"${key}":${degree}}`);
      }
      simulation.skip(5 * MINUTE);
      assertEquals(simulation.cells, [cells], key);
    }
  }
});

Deno.test("History shows each 503 of ten minutes, none of less than five, and none with --max-age none", () => {
  const rows = (silence: number, maxAge: number) =>
    new Simulation(maxAge).run(14 * MINUTE, "7").run(silence)
      .run(20 * MINUTE, "7").cells
      .map((cells) => cells === ",," ? "-" : "x").join("");
  assertEquals(rows(10 * MINUTE, 59), "xxx-xxxx"); // 503 from 14 to 24
  assertEquals(rows(16 * MINUTE, 59), "xxx---xxxx"); // to 30
  assertEquals(rows(5 * MINUTE, 59), "xxxxxxx");
  assertEquals(rows(61 * MINUTE, Infinity), "x".repeat(19));
});

Deno.test("History has the slots in which an hourly sensor is current", () => {
  const rows = (maxAge: number) =>
    new Simulation(maxAge).run(2 * HOUR, "7", undefined, HOUR).cells
      .map((cells) => cells === ",," ? "-" : "x").join("");
  assertEquals(rows(300), "xx----------xx----------");
  assertEquals(rows(3700), "x".repeat(24));
});

Deno.test("History has the last day, and drops a number that is absent for one", () => {
  const simulation = new Simulation().run(HOUR, '{"old":1,"t":2}')
    .run(24 * HOUR - 10 * MINUTE, '{"t":2,"new":3}');
  const { lines } = simulation;
  const columns = (lines: string[]) => lines[0]!.match(/min \w+/g)!.join();
  assertEquals([columns(lines), lines.length], ["min new,min old,min t", 289]);
  assertEquals(lines[1], "2026-11-26T12:55:00Z,,,,1,1,1,2,2,2");
  assertEquals(lines[288], "2026-11-27T12:50:00Z,3,3,3,,,,2,2,2");
  simulation.run(10 * MINUTE, '{"t":2,"new":3}');
  assertEquals(columns(simulation.lines), "min new,min t");
  assertEquals(simulation.run(25 * HOUR).history.isEmpty, true);
});

/** Changes of the clock of the system, in ms, and the times of two rows after each. */
const CLOCK_CHANGES: [milliseconds: number, times: string][] = [
  [-300, "26T12:05:00Z 26T12:10:00Z"],
  [24 * HOUR, "27T12:05:00Z 27T12:10:00Z"],
  [-24 * HOUR, "25T12:05:00Z 25T12:10:00Z"],
];

Deno.test("History has the times of the clock as it is, unless it was slewed", () => {
  for (const [milliseconds, times] of CLOCK_CHANGES) {
    const simulation = new Simulation().run(7 * MINUTE, "7");
    assertEquals(simulation.lines[1], "2026-11-26T12:05:00Z,7,7,7");
    simulation.wallMs += milliseconds;
    const rows = times.split(" ").map((time) => `2026-11-${time},7,7,7`);
    assertEquals(simulation.lines[1], rows[0]); // at once
    assertEquals(simulation.run(3 * MINUTE, "7").lines.slice(1), rows);
  }
});

Deno.test("History has a gap where the process was stopped, and after a day of it nothing else", () => {
  const simulation = new Simulation(Infinity).run(10 * MINUTE, "7");
  simulation.skip(2 * HOUR);
  const { cells } = simulation.run(5 * MINUTE, "8");
  assertEquals(cells.join(" "), `7,7,7 7,7,7 ${",, ".repeat(24)}8,8,8`);
  simulation.skip(40 * HOUR);
  assertEquals(simulation.lines.length, 1);
  assertEquals(simulation.run(5 * MINUTE).cells, ["8,8,8"]);
});

// So does an attic of less than an hour, while there is room for all cars that are current
Deno.test("History keeps a cellar that has died for most of a day, however many cars pass", () => {
  const rest = Array.from({ length: 100 }, (_, i) => `"k${i}":${i}`).join();
  for (const [cars, rows] of [[1, 25], [3, 25], [6, 15], [40, 15]] as const) {
    const simulation = new Simulation().run(25 * HOUR, '{"t":7.5}', "cellar")
      .run(50 * MINUTE, '{"t":7.5}', "attic");
    const countRows = (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) {
        simulation.readings.set(`{${rest}}`, "house");
        for (let car = 0; car < cars; car++) {
          simulation.readings.set('{"kPa":220}', `car ${minute} ${car}`);
        }
        simulation.run(MINUTE);
      }
      return simulation.lines.filter((line) => line.includes("7.5,7.5")).length;
    };
    assertEquals([countRows(22 * 60), countRows(2 * 60)], [rows, 0]);
  }
});

Deno.test("History has 128 numbers, and an answer of 512 Ki characters at most", () => {
  const list = (count: number, divisor: number) =>
    JSON.stringify(Array.from({ length: count }, (_, i) => i / divisor));
  const simulation = new Simulation().run(HOUR, '{"old":1}')
    .run(10 * MINUTE, list(150, 1));
  const names = () => simulation.lines[0]!.match(/(?<=min )\w+/g)!;
  assertEquals(names().length, 128);
  const { lines } = simulation.run(22 * HOUR, list(127, 7))
    .run(5 * MINUTE, list(100, 7));
  const { length } = lines.join("\r\n");
  assertEquals(length < 512 * 1024 && length > 490 * 1024, true);
  // Those with fewer slots are left out first, and rows that only these have
  assertEquals(names(), names().map((_, i) => `${i}`).sort());
  assertEquals(lines.length, 1 + 3 + 22 * 12);
});
