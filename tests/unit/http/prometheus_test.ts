// Prometheus's text format: who gets it, and what it says of a reading.

import { assert, assertEquals } from "@std/assert";
import project from "../../../deno.json" with { type: "json" };
import { formatMetrics, isScrape } from "../../../src/http/prometheus.ts";
import type { Measurement } from "../../../src/sensor/reading.ts";
import { MAX_LINE_BYTES } from "../../../src/sensor/line_reader.ts";

/** What scrapers send. */
const SCRAPERS: [name: string, accept: string][] = [
  [
    "Prometheus 3",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
  ],
  [
    "Telegraf",
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,text/plain;version=0.0.4;q=0.3",
  ],
  ["OpenMetrics, later", "text/html, application/openmetrics-text; q=0.1"],
  [
    "other cases, quotes and parameters",
    'TEXT/Plain ;charset=utf-8;\tVersion="0.0.4"',
  ],
  ["Prometheus 3 that is told to", "text/plain;version=1.0.0;q=0.6,*/*;q=0.1"],
  ["any version", "text/plain; version=0.0.40"],
];

/** What others send. */
const OTHERS: [name: string, accept?: string][] = [
  ["no Accept field"],
  ["curl and Home Assistant", "*/*"],
  ["axios", "application/json, text/plain, */*"],
  [
    "Chromium",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  ],
];

/** What only looks like a scraper's. */
const SIMILAR: [name: string, accept: string][] = [
  ["the version of another type", "text/plain,text/html;version=0.0.4"],
  ["no version", "text/plain;conversion=0.0.4, text/plain;q=0.1, text/plain;"],
  [
    "another type",
    "text/plain-x;version=0.0.4, x/text/plain;version=0.0.4, application/openmetrics-text-x, x-application/openmetrics-text",
  ],
];

function createRequest(accept?: string): Request {
  const headers = accept === undefined ? undefined : { accept };
  return new Request("http://board", { headers });
}

for (const [name, accept] of SCRAPERS) {
  Deno.test(`isScrape() is true for ${name}`, () => {
    assert(isScrape(createRequest(accept)));
  });
}

for (const [name, accept] of [...OTHERS, ...SIMILAR]) {
  Deno.test(`isScrape() is false for ${name}`, () => {
    assert(!isScrape(createRequest(accept)));
  });
}

Deno.test("isScrape() ignores what follows 1,000 characters", () => {
  const range = "text/plain;version=";
  for (const [length, expected] of [[1000, true], [1001, false]] as const) {
    const accept = `${range}1`.padStart(length + 1, ",");
    assertEquals(isScrape(createRequest(accept)), expected);
  }
});

const HEAD = `# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
`;
const TIME =
  `# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
datasensor_reading_timestamp_seconds 1763658896.5
`;

const VERSION = `# HELP datasensor_build_info The version of the program.
# TYPE datasensor_build_info gauge
datasensor_build_info{version="${project.version}"} 1
`;

/** Readings, and their samples. */
const READINGS: [json: string, ...samples: string[]][] = [
  ["21.5", "datasensor_reading 21.5"],
  ["-0.0", "datasensor_reading 0"],
  ["1e21", "datasensor_reading 1e+21"],
  ["true", "datasensor_reading 1"],
  ["null"],
  ["1e999"], // no number of Prometheus
  // Without --json, every reading is a string
  ['"21.5"', "datasensor_reading 21.5"],
  ['" 07\\r"', "datasensor_reading 7"],
  ['"-2.5e-3"', "datasensor_reading -0.0025"],
  ['"Sensor data"'],
  ['""'],
  ['" "'],
  ['"Infinity"'],
  ['"0x1F"'],
  ['"21.5 °C"'],
  ['"[1]"'],
  [
    '{"t":21.5,"ok":true,"no":false,"time":"12","none":null}',
    'datasensor_reading{key="t"} 21.5',
    'datasensor_reading{key="ok"} 1',
    'datasensor_reading{key="no"} 0',
  ],
  [
    '{"kitchen":{"t":20,"rh":[40,true]}}',
    'datasensor_reading{key="kitchen.t"} 20',
    'datasensor_reading{key="kitchen.rh.0"} 40',
    'datasensor_reading{key="kitchen.rh.1"} 1',
  ],
  ["[]"],
  [
    "[1,[2]]",
    'datasensor_reading{key="0"} 1',
    'datasensor_reading{key="1.0"} 2',
  ],
  [
    '{"__proto__":1,"constructor":{"x":2}}',
    'datasensor_reading{key="__proto__"} 1',
    'datasensor_reading{key="constructor.x"} 2',
  ],
  ['{"":1}', 'datasensor_reading{key=""} 1'],
  ['{"":{"":1}}', 'datasensor_reading{key="."} 1'],
  [
    String.raw`{"a\\b\"c\nd\t":1,"\\n":2}`,
    String.raw`datasensor_reading{key="a\\b\"c\nd${"\t"}"} 1`,
    String.raw`datasensor_reading{key="\\n"} 2`,
  ],
  // The last of those that have the same key
  ['{"a":1,"a":2}', 'datasensor_reading{key="a"} 2'],
  ['{"a.b":1,"a":{"b":2}}', 'datasensor_reading{key="a.b"} 2'],
  ['{"\\ud800":1,"\\udfff":2}', 'datasensor_reading{key="\ufffd"} 2'],
];

for (const [json, ...samples] of READINGS) {
  Deno.test(`formatMetrics() formats ${json}`, () => {
    const lines = samples.map((sample) => `${sample}\n`).join("");
    const text = formatMetrics({ json, time: 1_763_658_896_500 });
    assertEquals(text, HEAD + lines + TIME + VERSION);
  });
}

/** Creates readings of sensors; each arrived a second before the one before it. */
function measure(...sensors: [name: string, json: string][]): Measurement {
  const all = sensors.map(([name, json], index) =>
    [name, { json, time: 1000 * (sensors.length - index) }] as const
  );
  const json = `{${
    sensors.map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  }}`;
  return { json, time: all[0]![1].time, sensors: new Map(all) };
}

/** Returns the samples in a text, without those of the program. */
const samplesOf = (text: string) =>
  text.match(/^datasensor_reading.*$/gm)?.map((it) => it.slice(11)) ?? [];

Deno.test("formatMetrics() formats the numbers and the time of each sensor", () => {
  const text = formatMetrics(measure(
    ["Nexus-TH 1 42", '{"temperature_C":21.50,"id":42,"on":true}'],
    ["7", '{"t":{"x":[3]},"time":"12:00"}'],
    ['a"b', "{}"],
    ["", '{"t":1}'],
    ["__proto__", '{"t":2}'],
  ));
  assertEquals(samplesOf(text), [
    'reading{key="Nexus-TH 1 42.temperature_C"} 21.5',
    'reading{key="Nexus-TH 1 42.id"} 42',
    'reading{key="Nexus-TH 1 42.on"} 1',
    'reading{key="7.t.x.0"} 3',
    'reading{key=".t"} 1',
    'reading{key="__proto__.t"} 2',
    'reading_timestamp_seconds{key="Nexus-TH 1 42"} 5',
    'reading_timestamp_seconds{key="7"} 4',
    String.raw`reading_timestamp_seconds{key="a\"b"} 3`,
    'reading_timestamp_seconds{key=""} 2',
    'reading_timestamp_seconds{key="__proto__"} 1',
  ]);
});

Deno.test("formatMetrics() formats each sample once, whatever the names", () => {
  const text = formatMetrics(measure(
    ["a", '{"b":{"c":1}}'],
    ["a.b", '{"c":2}'],
    ["\ud800", "{}"],
    ["\udfff", "{}"],
  ));
  assertEquals(samplesOf(text), [
    'reading{key="a.b.c"} 2',
    'reading_timestamp_seconds{key="a"} 4',
    'reading_timestamp_seconds{key="a.b"} 3',
    'reading_timestamp_seconds{key="\ufffd"} 1',
  ]);
});

Deno.test("formatMetrics() leaves out numbers of the sensors that have been silent longest", () => {
  const json = `{${Array.from({ length: 8 }, (_, i) => `"k${i}":${i}`)}}`;
  const sensors = Array.from({ length: 130 }, (_, i) => `${200 - i}`);
  const text = formatMetrics(
    measure(...sensors.map((name) => [name, json] as [string, string])),
  );
  const keys = samplesOf(text).map((it) => it.match(/"(.*)"/)![1]!);
  const kept = sensors.slice(0, 125); // whose 1,000 numbers fit
  const numbers = kept.flatMap((name) =>
    Array.from({ length: 8 }, (_, i) => `${name}.k${i}`)
  );
  assertEquals(keys, [...numbers, ...sensors]);
});

/** Counts the numbers in a reading. */
function countNumbers(json: string): number {
  return formatMetrics({ json, time: 0 }).match(/^datasensor_reading\{/gm)
    ?.length ?? 0;
}

const nest = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);

Deno.test("formatMetrics() leaves out numbers in more than ten objects, long keys, and all after 1,000", () => {
  assertEquals([nest(10), nest(11)].map(countNumbers), [1, 0]);
  const keys = [200, 201].map((length) => `{"${"k".repeat(length)}":1}`);
  assertEquals(keys.map(countNumbers), [1, 0]);
  const inner = [198, 199].map((length) => `{"a":{"${"k".repeat(length)}":1}}`);
  assertEquals(inner.map(countNumbers), [1, 0]);
  const arrays = [1000, 1001].map((length) => `[${Array(length).fill(1)}]`);
  assertEquals(arrays.map(countNumbers), [1000, 1000]);
});

/** Returns parts, as many as fit in a line. */
function fillLine(part: (index: number) => string): string {
  let text = "";
  for (let index = 0; text.length < MAX_LINE_BYTES - 300; index++) {
    text += (index ? "," : "") + part(index);
  }
  return text;
}

/** Readings of up to 64 KiB that could become much longer texts. */
const HOSTILE: [what: string, json: string][] = [
  ["long keys", `{${fillLine((i) => `"${`${i}`.padEnd(200, "k")}":1`)}}`],
  [
    "numbers below a long key of quotes",
    `{"${'\\"'.repeat(100)}":[${fillLine(() => "1")}]}`,
  ],
  ["quotes", `{"${'\\"'.repeat(32_000)}":1}`],
];

for (const [what, json] of HOSTILE) {
  Deno.test(`formatMetrics() makes a short text of 64 KiB of ${what}`, () => {
    assert(json.length <= MAX_LINE_BYTES);
    const { length } = formatMetrics({ json, time: 0 });
    assert(length < 300_000, `${length} characters`);
  });
}
