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
  ['"21."', "datasensor_reading 21"],
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
    ["Nexus-TH/1/42", '{"temperature_C":21.50,"id":42,"on":true}'],
    ["7", '{"t":{"x":[3]},"time":"12:00"}'],
    ['a"b', "{}"],
    ["__proto__", '{"t":2}'],
  ));
  assertEquals(samplesOf(text), [
    'reading{sensor="Nexus-TH/1/42",key="temperature_C"} 21.5',
    'reading{sensor="Nexus-TH/1/42",key="id"} 42',
    'reading{sensor="Nexus-TH/1/42",key="on"} 1',
    'reading{sensor="7",key="t.x.0"} 3',
    'reading{sensor="__proto__",key="t"} 2',
    'reading_timestamp_seconds{sensor="Nexus-TH/1/42"} 4',
    'reading_timestamp_seconds{sensor="7"} 3',
    String.raw`reading_timestamp_seconds{sensor="a\"b"} 2`,
    'reading_timestamp_seconds{sensor="__proto__"} 1',
  ]);
});

Deno.test("formatMetrics() keeps sensors apart whose names and keys have dots", () => {
  const text = formatMetrics(measure(
    ["a.b", '{"c":2}'],
    ["a", '{"b.c":1}'],
  ));
  assertEquals(samplesOf(text).slice(0, 2), [
    'reading{sensor="a.b",key="c"} 2',
    'reading{sensor="a",key="b.c"} 1',
  ]);
});

const MAX_CHARACTERS = 512 * 1024;

/** Returns an array that becomes about a number of characters of a sensor's samples. */
const fill = (characters: number) =>
  `{"k":[${Array(Math.ceil(characters / 42)).fill(1)}]}`;

Deno.test("formatMetrics() shows a sensor with all its numbers and its time, or not at all", () => {
  const text = formatMetrics(measure(
    ["fits", fill(MAX_CHARACTERS / 2)],
    ["does not fit", fill(MAX_CHARACTERS / 2)],
    ["fits, too", '{"t":21.5}'],
  ));
  const samples = samplesOf(text);
  const whole = samples.filter((it) => it.startsWith('reading{sensor="fits",'));
  assertEquals(whole.length, Math.ceil(MAX_CHARACTERS / 2 / 42));
  assertEquals(samples.slice(whole.length), [
    'reading{sensor="fits, too",key="t"} 21.5',
    'reading_timestamp_seconds{sensor="fits"} 3',
    'reading_timestamp_seconds{sensor="fits, too"} 1',
  ]);
});

Deno.test("formatMetrics() shows the first numbers of a single sensor, and its time", () => {
  const text = formatMetrics({ json: fill(2 * MAX_CHARACTERS), time: 1000 });
  const samples = samplesOf(text);
  assertEquals(samples[0], 'reading{key="k.0"} 1');
  assertEquals(samples.at(-1), "reading_timestamp_seconds 1");
  const { length } = samples.map((it) => `datasensor_${it}\n`).join("");
  assert(
    length <= MAX_CHARACTERS && length > MAX_CHARACTERS - 100,
    `${length}`,
  );
});

Deno.test("formatMetrics() shows all of ordinary lines of 64 KiB", () => {
  const room = (name: string) =>
    JSON.stringify({
      room: name,
      temperature_C: 21.5,
      humidity: 40.2,
      ok: true,
    });
  const names = Array.from({ length: 900 }, (_, i) => `room ${i}`);
  const lines = names.map((name) => [name, room(name)] as [string, string]);
  assert(lines.flat().join("").length > MAX_LINE_BYTES);
  const samples = samplesOf(formatMetrics(measure(...lines)));
  assertEquals(samples.length, names.length * 4);
});

/** Counts the numbers in a reading. */
function countNumbers(json: string): number {
  return formatMetrics({ json, time: 0 }).match(/^datasensor_reading\{/gm)
    ?.length ?? 0;
}

const nest = (depth: number) => '{"a":'.repeat(depth) + "1" + "}".repeat(depth);

Deno.test("formatMetrics() leaves out numbers in more than ten objects", () => {
  assertEquals([nest(10), nest(11)].map(countNumbers), [1, 0]);
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
    for (
      const reading of [{ json, time: 0 }, measure(["a".repeat(200), json])]
    ) {
      const { length } = formatMetrics(reading);
      assert(length < MAX_CHARACTERS + 1000, `${length} characters`);
    }
  });
}
