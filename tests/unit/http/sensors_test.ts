// What is known of each sensor, as JSON.

import { assert, assertEquals } from "@std/assert";
import { formatSensors } from "../../../src/http/sensors.ts";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { TestClock } from "../../helpers/test_clock.ts";

/** Returns what is known of sensors after some readings, each a second after the one before. */
function format(
  sent: [name: string | undefined, json: string][],
  pauseMs = 0,
): string {
  const clock = new TestClock();
  const readings = new LastReadings(15, "", clock);
  for (const [name, json] of sent) {
    clock.pass(1000);
    readings.set(json, name);
  }
  clock.pass(pauseMs);
  return formatSensors(readings.snapshot(), clock.wallMs);
}

const time = (second: number) => `"time":"2026-11-20T17:14:${second}.000Z"`;

Deno.test("formatSensors() has the name, time, age and reading of each sensor, by name", () => {
  assertEquals(
    format([["b", '{"t": 1}'], ["a\ud800", "{}"], ["10", "{}"]]),
    `[{"name":"10",${time(59)},"age":0,"reading":{}},` +
      String.raw`{"name":"a\ud800",${time(58)},"age":1,"reading":{}},` +
      `{"name":"b",${time(57)},"age":2,"reading":{"t": 1}}]`,
  );
});

Deno.test("formatSensors() has no reading of a silent sensor, nor a name of an only one", () => {
  assertEquals(
    format([["a", "1"], ["a", "1"], ["a", "1"]], 15_100),
    `[{"name":"a",${time(59)},"age":15.1}]`,
  );
  assertEquals(
    format([[undefined, " 21.5"]], 540),
    `[{${time(57)},"age":0.5,"reading": 21.5}]`,
  );
  assertEquals(
    format([[undefined, "1"]], 15_100),
    `[{${time(57)},"age":15.1}]`,
  );
  assertEquals(format([["heard once", "1"]], 15_100), "[]");
});

Deno.test("formatSensors() leaves out first those that have been silent longest", () => {
  const names = Array.from({ length: 9000 }, (_, i) => `${i}`);
  const silent = new Map(names.map((name, i) => [name, 9000 - i]));
  const current = new Map([["a", { json: "1", time: 9000 }]]);
  const snapshot = {
    all: undefined,
    current,
    silent,
    evicted: { count: 0, name: "" },
  };
  const text = formatSensors(snapshot, 9000);
  assert(text.length < 512 * 1024 && text.length > 511 * 1024);
  const known: { name: string }[] = JSON.parse(text);
  assertEquals(known.at(-1)!.name, "a");
  const expected = ["a", ...names.slice(0, known.length - 1)];
  assertEquals(new Set(known.map(({ name }) => name)), new Set(expected));
});
