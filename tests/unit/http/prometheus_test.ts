// Prometheus's text format: who gets it, and what it says of a reading.

import { assert, assertEquals } from "@std/assert";
import { formatMetrics, isScrape } from "../../../src/http/prometheus.ts";
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
  ["another version", "text/plain;version=0.0.40, text/plain;conversion=0.0.4"],
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
  const range = "text/plain;version=0.0.4";
  const fill = (length: number) => `${"x,".repeat(length / 2)}${range}`;
  assert(isScrape(createRequest(fill(1000 - range.length))));
  assert(!isScrape(createRequest(fill(1002 - range.length))));
});

const HEAD = `# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
`;
const TIME =
  `# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
datasensor_reading_timestamp_seconds 1763658896.5
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
    const text = formatMetrics(json, 1_763_658_896_500);
    assertEquals(text, HEAD + lines + TIME);
  });
}

/** Counts the numbers in a reading. */
function countNumbers(json: string): number {
  return formatMetrics(json, 0).match(/^datasensor_reading\{/gm)?.length ?? 0;
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
    const { length } = formatMetrics(json, 0);
    assert(length < 300_000, `${length} characters`);
  });
}
