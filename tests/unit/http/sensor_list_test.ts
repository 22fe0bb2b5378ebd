// The list of the known sensors, as JSON.

import { assert, assertEquals } from "@std/assert";
import { formatSensorList } from "../../../src/http/sensor_list.ts";

Deno.test("formatSensorList() has each sensor by name, without those that have been silent longest", () => {
  const current = new Map([
    ["b", { json: '{"t": 1}', time: 8900 }],
    ["a\ud800", { json: "{}", time: 9001 }],
  ]);
  const names = Array.from({ length: 9000 }, (_, i) => `${i}`);
  const silent = new Map(
    names.map((name, i) => [name, { json: '{"t":1.50}', time: 9000 - i }]),
  );
  const evicted = { count: 0, name: "" };
  const snapshot = {
    haveNames: true,
    all: undefined,
    current,
    silent,
    evicted,
  };
  const text = formatSensorList(snapshot, 9000);
  assert(text.length < 512 * 1024 && text.length > 511 * 1024);
  const time = (second: string) => `"time":"1970-01-01T00:00:${second}Z"`;
  const end = String.raw`,{"name":"a\ud800",${time("09.001")},"age":0,` +
    `"reading":{}},{"name":"b",${time("08.900")},` +
    `"age":0.1,"reading":{"t": 1}}]`;
  assertEquals(text.slice(-end.length), end);
  const start = `[{"name":"0",${time("09.000")},"age":0,"last":{"t":1.50}},`;
  assertEquals(text.slice(0, start.length), start);
  const known: { name: string }[] = JSON.parse(text).slice(0, -2);
  const expected = names.slice(0, known.length).sort();
  assertEquals(known.map(({ name }) => name), expected);
});
