// The last readings: how long they are current, which sensors are silent, their time when the
// clock is set, and what is forgotten.

import { assert, assertEquals } from "@std/assert";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { testProperty } from "../../helpers/random.ts";
import { TestClock } from "../test_clock.ts";

const START = new TestClock().wallMs;

function create(maxAgeSeconds = 1.5) {
  const clock = new TestClock();
  const readings = new LastReadings(maxAgeSeconds, "it may be asleep", clock);
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

/** When a sensor has sent readings, by the monotonic clock. */
type Times = Record<string, number[]>;

/** Returns how long a silent sensor is known that has sent readings for some time. */
const knownMsOf = (ms: number) => ms < 10_000 ? ms : Math.max(ms, 300_000);

/** Returns when the last reading came of each sensor that should be current or silent. */
function expectKnown(sent: Times, now: number, maxAgeMs: number) {
  const current = new Map<string, number>();
  const silent = new Map<string, number>();
  for (const [name, times] of Object.entries(sent)) {
    let [start, previous] = [times[0]!, times[0]!];
    let longest = 0; // without a break
    for (const time of times) {
      const gap = time - previous;
      if (gap > maxAgeMs) start = time;
      if (gap > maxAgeMs + knownMsOf(longest)) longest = 0; // it was forgotten
      longest = Math.max(longest, time - start);
      previous = time;
    }
    const age = now - previous;
    if (age <= maxAgeMs) current.set(name, previous);
    else if (age <= maxAgeMs + knownMsOf(longest)) silent.set(name, previous);
  }
  return { current, silent };
}

testProperty(
  "LastReadings knows a silent sensor for as long as it has sent readings without a break, or for five minutes after 10 s, although the clock is set",
  300,
  (random) => {
    const { readings, clock } = create(5);
    const sent: Times = {};
    for (let step = 0; step < 60; step++) {
      if (random.below(3) > 0) {
        const name = random.pick(["a", "b", "c"]);
        readings.set(`${step}`, name);
        (sent[name] ??= []).push(clock.now());
      }
      clock.skip(random.pick([0, 1, 400, 4999, 5000, 5001, 9000, 3e5]));
      clock.wallMs += random.pick([0, 0, 0, 10, -10, 1e9, -1e9]);
      const offset = clock.wallMs - clock.now();
      const timesOf = (known: Map<string, number>) =>
        Object.fromEntries(
          [...known].map(([name, time]) => [name, time + offset]),
        );
      const { current, silent } = expectKnown(sent, clock.now(), 5000);
      const snapshot = readings.snapshot();
      const shown = [...snapshot.current].map((
        [name, { time }],
      ) => [name, time]);
      assertEquals(Object.fromEntries(shown), timesOf(current));
      assertEquals(Object.fromEntries(snapshot.silent), timesOf(silent));
    }
  },
);

Deno.test("LastReadings forgets silent sensors beyond 64 KiB, and then those that have been silent longest", () => {
  const { readings, clock } = create();
  const line = "1".repeat(125); // 128 characters with its name
  for (let second = 0; second < 4; second++) {
    for (const name of ["x", "y"]) readings.set("1", name.repeat(64));
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
