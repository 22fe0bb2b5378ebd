// The last readings: how long they are current, which sensors are silent, their time when the
// clock is set, and what is forgotten.

import { assert, assertEquals } from "@std/assert";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { TestClock } from "../test_clock.ts";

const START = new TestClock().wallMs;

function create(maxAgeSeconds = 1.5) {
  const clock = new TestClock();
  const readings = new LastReadings(
    true,
    maxAgeSeconds,
    "it may be asleep",
    clock,
  );
  return { readings, clock };
}

Deno.test("LastReadings joins all sensors in the order of their names, as a JSON object", () => {
  const { readings, clock } = create();
  const names = ["kitchen", "7", 'a"b\\', "a.b", "__proto__", "\n\x1b", "°"];
  for (const name of names) {
    clock.skip(1);
    readings.set(`{"name": ${JSON.stringify(name)}}`, name);
  }
  const snapshot = readings.snapshot();
  assert(readings.snapshot() === snapshot); // as nothing has changed
  const { all, current } = snapshot;
  assertEquals([...current.keys()], names.toReversed());
  assertEquals(all!.time, START + names.length);
  const members = names.toSorted().map((name) => {
    const key = JSON.stringify(name);
    return `${key}:{"name": ${key}}`;
  });
  assertEquals(all!.json, `{${members.join()}}`);
});

Deno.test("LastReadings has the times of the clock as it is, unless it was slewed", () => {
  const { readings, clock } = create();
  readings.set("1", "silent");
  clock.skip(1000);
  readings.set("2", "silent"); // so it is known for a second once it is silent
  clock.skip(1600);
  readings.set("3", "current");
  for (const [ms, passed] of [[0, 0], [9, 9], [1, 0], [-1e9, 0]] as const) {
    clock.wallMs += ms;
    const { current, silent } = readings.snapshot();
    const now = clock.wallMs;
    assertEquals([...current, ...silent], [
      ["current", { json: "3", time: now - passed }],
      ["silent", { json: "2", time: now - 1600 - passed }],
    ]);
  }
});

Deno.test("LastReadings knows a silent sensor for a day for each hour that it was heard without a break, and for five minutes after 10 s", () => {
  const { readings, clock } = create();
  const isKnown = () => readings.snapshot().silent.has("a");
  /** How long it is heard, and then known, in seconds. */
  const runs = [[9, 9], [10, 300], [13, 312], [300, 7200], [3600, 86_400]];
  for (const [heard, known] of runs) {
    for (const length of [heard!, Math.min(heard!, 10)]) { // it returns
      for (let second = 0; second < length; second++) {
        readings.set("1", "a");
        clock.skip(1000);
      }
      readings.set("1", "a");
      clock.skip(1500 + known! * 1000);
      assertEquals([heard, isKnown()], [heard, true]);
    }
    clock.skip(1);
    assertEquals([heard, isKnown()], [heard, false]);
  }
});

Deno.test("LastReadings forgets each silent sensor in its time, whichever fell silent last", () => {
  for (const names of [["car", "attic"], ["attic", "car"]]) {
    const { readings, clock } = create();
    const known = () => [...readings.snapshot().silent.keys()].sort().join();
    for (let second = 0; second <= 60; second++) {
      for (const name of names) {
        if (name === "attic" || second >= 50) readings.set("1", name);
      }
      clock.skip(1000);
    }
    clock.skip(300_500); // at first, the last reading is a second old
    assertEquals(known(), "attic,car");
    clock.skip(1);
    assertEquals(known(), "attic");
  }
});

Deno.test("LastReadings evicts silent sensors beyond 64 KiB, and then those with the oldest readings", () => {
  const { readings, clock } = create();
  const line = "1".repeat(125); // 128 characters with its name
  for (let second = 0; second < 4; second++) {
    for (const name of ["x", "y"]) {
      readings.set("1".repeat(32), name.repeat(32));
    }
    clock.skip(1000);
  }
  clock.skip(1000);
  for (let number = 100; number < 611; number++) {
    readings.set(line, `${number}`);
  }
  readings.set(line, "100"); // replaces its line
  const observe = () => {
    const { current, silent, evicted } = readings.snapshot();
    return [current.size, silent.size, evicted.count, evicted.name];
  };
  assertEquals(observe(), [511, 2, 0, ""]);
  const silent = [...readings.snapshot().silent.keys()];
  assertEquals(silent.map(([first]) => first), ["y", "x"]); // the latest first
  readings.set(line, "611");
  assertEquals(observe(), [512, 0, 2, "y".repeat(32)]);
  for (const name of ["612", "613", "614"]) readings.set(line, name);
  assertEquals(observe(), [512, 0, 5, "103"]);
});

Deno.test("LastReadings keeps the latest line, however long", () => {
  const { readings } = create();
  const long = "1".repeat(64 * 1024 + 1);
  readings.set("1", "a");
  readings.set(long, "b");
  assertEquals(readings.snapshot().all!.json, `{"b":${long}}`);
});
