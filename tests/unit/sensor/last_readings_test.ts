// The last readings: how long they are current, which sensors are silent, their time when the
// clock is set, and what is forgotten.

import { assert, assertEquals } from "@std/assert";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { testProperty } from "../../helpers/random.ts";
import { TestClock } from "../../helpers/test_clock.ts";

const START = new TestClock().wallMs;
const DAY_MS = 86_400_000;

function create({ maxAgeSeconds = 1.5 } = {}) {
  const clock = new TestClock();
  const readings = new LastReadings(maxAgeSeconds, "it may be asleep", clock);
  return { readings, clock };
}

const age = (seconds: number) =>
  `The last reading is ${seconds} s old: the limit is 1.5 s (--max-age)`;

Deno.test("LastReadings has no reading once the last one is too old, and says how old it is", () => {
  const { readings, clock } = create();
  readings.set("21");
  clock.pass(1500);
  assertEquals(readings.snapshot().all, { json: "21", time: START });
  clock.pass(1);
  assertEquals(readings.snapshot().all, undefined);
  assertEquals(readings.explain(), age(1.6));
  clock.pass(60_000);
  assertEquals(readings.explain(), age(61.6));
  readings.set("22");
  assertEquals(readings.snapshot().all, { json: "22", time: START + 61_501 });
  clock.pass(1501);
  readings.end("ended");
  assertEquals(readings.explain(), `${age(1.6)}, and the input has ended`);
});

Deno.test("LastReadings.snapshot() returns the same object until the next line arrives", () => {
  const { readings, clock } = create({ maxAgeSeconds: Infinity });
  readings.set("21.5");
  const snapshot = readings.snapshot();
  clock.pass(1e12); // without a limit
  clock.wallMs += 5; // the two clocks are not read at the same time
  assert(readings.snapshot() === snapshot);
  readings.set("21.5");
  assert(readings.snapshot() !== snapshot);
});

/** How far the clock is set, in ms. */
const STEPS = [30 * DAY_MS, 10, -10, -30 * DAY_MS];

for (const step of STEPS) {
  Deno.test(`LastReadings keep their age when the clock is set by ${step} ms`, () => {
    const { readings, clock } = create({ maxAgeSeconds: 15 });
    for (const ms of [14_000, 14_000, 15_001]) {
      readings.set("1", "silent");
      clock.pass(ms);
    }
    readings.set("21.5", "a");
    clock.pass(1);
    const time = START + 43_001;
    const check = (step: number) => {
      const { all, silent } = readings.snapshot();
      assertEquals(all, { json: '{"a":21.5}', time: time + step });
      assertEquals(silent.get("silent"), START + 28_000 + step);
    };
    check(0);
    clock.wallMs += step;
    check(step);
    clock.pass(14_999);
    check(step); // the clock was set only once
    clock.pass(1);
    assertEquals(readings.snapshot().all, undefined);
  });
}

Deno.test("LastReadings joins all sensors in the order of their names, as a JSON object", () => {
  const { readings, clock } = create();
  const names = ["kitchen", "7", 'a"b\\', "a.b", "__proto__", "\n\x1b", "°"];
  for (const name of names) {
    clock.pass(1);
    readings.set(`{"name": ${JSON.stringify(name)}}`, name);
  }
  const { all, current } = readings.snapshot();
  assertEquals([...current.keys()], names.toReversed());
  assertEquals(all!.time, START + names.length);
  const members = names.toSorted().map((name) => {
    const key = JSON.stringify(name);
    return `${key}:{"name": ${key}}`;
  });
  assertEquals(all!.json, `{${members.join()}}`);
});

/** A reading of a sensor, by the monotonic clock. */
interface Sent {
  name: string;
  time: number;
}

/** Returns the names of the sensors that should be current, and of those that are silent. */
function expectKnown(sent: Sent[], now: number, maxAgeMs: number) {
  const current = new Set<string>();
  const silent = new Set<string>();
  for (const { name } of sent) {
    const times = sent.filter((it) => it.name === name).map((it) => it.time);
    let [start, previous] = [times[0]!, times[0]!];
    let longest = 0; // without a break
    for (const time of times) {
      const gap = time - previous;
      if (gap > maxAgeMs) start = time;
      if (gap > maxAgeMs + longest) longest = 0; // it was forgotten
      longest = Math.max(longest, time - start);
      previous = time;
    }
    const age = now - previous;
    if (age <= maxAgeMs) current.add(name);
    else if (age <= maxAgeMs + longest) silent.add(name);
  }
  return { current, silent };
}

testProperty(
  "LastReadings knows a silent sensor for as long as it has sent readings without a break",
  300,
  (random) => {
    const { readings, clock } = create();
    const sent: Sent[] = [];
    for (let step = 0; step < 60; step++) {
      if (random.below(3) > 0) {
        const name = random.pick(["a", "b", "c"]);
        readings.set(`${step}`, name);
        sent.push({ name, time: clock.now() });
      }
      clock.pass(random.pick([0, 1, 400, 1499, 1500, 1501, 4000]));
      const { current, silent } = expectKnown(sent, clock.now(), 1500);
      const snapshot = readings.snapshot();
      assertEquals(new Set(snapshot.current.keys()), current);
      assertEquals(new Set(snapshot.silent.keys()), silent);
    }
  },
);

Deno.test("LastReadings forgets silent sensors beyond 64 KiB, and then those that have been silent longest", () => {
  const { readings, clock } = create();
  const line = "1".repeat(125); // 128 characters with its name
  for (let second = 0; second < 4; second++) {
    for (const name of ["x", "y"]) readings.set("1", name.repeat(64));
    clock.pass(1000);
  }
  clock.pass(1000);
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
  assertEquals(observe(), [512, 0, 2, "y".repeat(64)]);
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
