// Prometheus's text format: what it says of readings.

import { assert, assertEquals } from "@std/assert";
import project from "../../../deno.json" with { type: "json" };
import { formatMetrics } from "../../../src/http/prometheus.ts";
import type { Snapshot } from "../../../src/sensor/reading.ts";

/** Creates a snapshot, in which each reading arrived a second before the one before it. */
function createSnapshot(
  current: [name: string, json: string][],
  silent: string[] = [],
  haveNames = true,
): Snapshot {
  const count = current.length + silent.length;
  const timeOf = (index: number) => 1000 * (count - index);
  return {
    haveNames,
    all: undefined,
    current: new Map(
      current.map(([name, json], i) => [name, { json, time: timeOf(i) }]),
    ),
    silent: new Map(silent.map((name, i) => [
      name,
      { json: '{"t":1}', time: timeOf(current.length + i) },
    ])),
    evicted: { count: 0, name: "" },
  };
}

/** Creates a snapshot of a sensor that has no name. */
const createUnnamed = (json: string) => createSnapshot([["", json]], [], false);

/** Returns the samples in a text, without those of the program. */
const samplesOf = (text: string) =>
  text.match(/^datasensor_(reading|up).*$/gm)?.map((line) => line.slice(11)) ??
    [];

Deno.test("formatMetrics() describes the numbers of each sensor, its time, and whether it is current", () => {
  const text = formatMetrics(createSnapshot([
    ["Nexus-TH/1/42", '{"t":{"x":[21.50]},"on":true,"time":"12:00"}'],
    ['a"b', "{}"],
    ["__proto__", '{"t":2}'],
  ], ["line\nfeed"]));
  assertEquals(
    text,
    String.raw`# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
datasensor_reading{sensor="Nexus-TH/1/42",key="t.x.0"} 21.5
datasensor_reading{sensor="Nexus-TH/1/42",key="on"} 1
datasensor_reading{sensor="__proto__",key="t"} 2
# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
datasensor_reading_timestamp_seconds{sensor="Nexus-TH/1/42"} 4
datasensor_reading_timestamp_seconds{sensor="a\"b"} 3
datasensor_reading_timestamp_seconds{sensor="__proto__"} 2
datasensor_reading_timestamp_seconds{sensor="line\nfeed"} 1
# HELP datasensor_up Whether the last reading is current.
# TYPE datasensor_up gauge
datasensor_up{sensor="Nexus-TH/1/42"} 1
datasensor_up{sensor="a\"b"} 1
datasensor_up{sensor="__proto__"} 1
datasensor_up{sensor="line\nfeed"} 0
# HELP datasensor_build_info The version of the program.
# TYPE datasensor_build_info gauge
datasensor_build_info{version="${project.version}"} 1
`,
  );
});

/** Readings of an only sensor, and the labels and the values of their samples. */
const READINGS: Record<string, string> = {
  "21.5": " 21.5",
  "true": " 1",
  "1e999": "", // no number of Prometheus
  // Without --json, every reading is a string
  '"21.5"': " 21.5",
  '" 07\\r"': " 7",
  '"-2.5e-3"': " -0.0025",
  '"+2.5E+3"': " 2500",
  '"21."': " 21",
  '"Sensor data"': "",
  '" "': "",
  '"0x1F"': "",
  '{"t":21.5,"ok":true,"no":false,"time":"12","none":null}':
    '{key="t"} 21.5; {key="ok"} 1; {key="no"} 0',
  '{"kitchen":{"t":20,"rh":[40,true]}}':
    '{key="kitchen.t"} 20; {key="kitchen.rh.0"} 40; {key="kitchen.rh.1"} 1',
  '{"":1}': '{key=""} 1',
  '{"":{"":1}}': '{key="."} 1',
  [String.raw`{"a\\b\"c\nd\t":1,"\\n":2}`]: String
    .raw`{key="a\\b\"c\nd${"\t"}"} 1; {key="\\n"} 2`,
  // The last of those that have the same key
  '{"a.b":1,"a":{"b":2}}': '{key="a.b"} 2',
  '{"\\ud800":1,"\\udfff":2}': '{key="\ufffd"} 2',
};

for (const [json, samples] of Object.entries(READINGS)) {
  Deno.test(`formatMetrics() formats ${json}`, () => {
    const expected = samples ? samples.split("; ") : [];
    assertEquals(samplesOf(formatMetrics(createUnnamed(json))), [
      ...expected.map((sample) => `reading${sample}`),
      "reading_timestamp_seconds 1",
    ]);
  });
}

const MAX_CHARACTERS = 512 * 1024;

/** Returns an array that becomes about a number of characters of a sensor's samples. */
const fill = (characters: number) =>
  `{"k":[${Array(Math.ceil(characters / 42)).fill(1)}]}`;

Deno.test("formatMetrics() shows a sensor with all its numbers and its time, or not at all", () => {
  const text = formatMetrics(createSnapshot([
    ["fits", fill(MAX_CHARACTERS / 2)],
    ["does not fit", fill(MAX_CHARACTERS / 2)],
    ["fits, too", '{"t":21.5}'],
  ]));
  const samples = samplesOf(text);
  const whole = samples.filter((sample) =>
    sample.startsWith('reading{sensor="fits",')
  );
  assertEquals(whole.length, Math.ceil(MAX_CHARACTERS / 2 / 42));
  assertEquals(samples.slice(whole.length), [
    'reading{sensor="fits, too",key="t"} 21.5',
    'reading_timestamp_seconds{sensor="fits"} 3',
    'reading_timestamp_seconds{sensor="fits, too"} 1',
    'up{sensor="fits"} 1',
    'up{sensor="fits, too"} 1',
  ]);
});

Deno.test("formatMetrics() leaves out silent sensors first, those that have been silent longest", () => {
  const silent = Array.from({ length: 9000 }, (_, i) => `silent ${i}`);
  const text = formatMetrics(createSnapshot([["a", '{"t":1}']], silent));
  const samples = samplesOf(text);
  const ups = samples.filter((sample) => sample.endsWith("} 0"));
  assert(samples.includes('up{sensor="a"} 1') && ups.length < silent.length);
  const latest = silent.slice(0, ups.length);
  assertEquals(ups, latest.map((name) => `up{sensor="${name}"} 0`));
  assert(text.length < MAX_CHARACTERS + 1000 && text.length > MAX_CHARACTERS);
});

Deno.test("formatMetrics() shows the first numbers of a single sensor, and its time", () => {
  const text = formatMetrics(createUnnamed(fill(2 * MAX_CHARACTERS)));
  const samples = samplesOf(text);
  assertEquals(samples[0], 'reading{key="k.0"} 1');
  assertEquals(samples.at(-1), "reading_timestamp_seconds 1");
  const { length } = samples.map((sample) => `datasensor_${sample}\n`).join("");
  const isFull = length <= MAX_CHARACTERS && length > MAX_CHARACTERS - 100;
  assert(isFull, `${length}`);
});
