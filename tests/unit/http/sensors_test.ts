// What is known of each sensor, as JSON.

import { assert, assertEquals } from "@std/assert";
import { formatSensors } from "../../../src/http/sensors.ts";

/** Formats sensors with their readings and times, and silent ones with their times. */
const format = (
  current: [name: string, json: string, time: number][],
  silent: [name: string, time: number][],
): string => {
  const snapshot = {
    all: undefined,
    current: new Map(
      current.map(([name, json, time]) => [name, { json, time }]),
    ),
    silent: new Map(silent),
    evicted: { count: 0, name: "" },
  };
  return formatSensors(snapshot, 9000);
};

Deno.test("formatSensors() has the name, time, age and reading of each sensor, by name", () => {
  const time = (second: string) => `"time":"1970-01-01T00:00:${second}Z"`;
  assertEquals(
    format([["b", '{"t": 1}', 8900], ["a\ud800", "{}", 9001]], [["10", 3000]]),
    `[{"name":"10",${time("03.000")},"age":6},` +
      String.raw`{"name":"a\ud800",${time("09.001")},"age":0,"reading":{}},` +
      `{"name":"b",${time("08.900")},"age":0.1,"reading":{"t": 1}}]`,
  );
});

Deno.test("formatSensors() leaves out first those that have been silent longest", () => {
  const names = Array.from({ length: 9000 }, (_, i) => `${i}`);
  const text = format(
    [["a", "1", 9000]],
    names.map((name, i) => [name, 9000 - i]),
  );
  assert(text.length < 512 * 1024 && text.length > 511 * 1024);
  const known: { name: string }[] = JSON.parse(text);
  const expected = ["a", ...names.slice(0, known.length - 1)].sort();
  assertEquals(known.map(({ name }) => name), expected);
});
