// No text of a client or a sensor holds the program up: the worst 64 KiB for each pattern
// and loop that meets one take milliseconds, where a quadratic one takes seconds.

import { assert } from "@std/assert";
import { withAccessLog } from "../../src/http/access_log.ts";
import { formatMetrics, isScrape } from "../../src/http/prometheus.ts";
import { requestTarget } from "../../src/http/request_target.ts";
import { createResource } from "../../src/http/resource.ts";
import { createResponsesTo } from "../../src/http/responses.ts";
import { followInput } from "../../src/sensor/input.ts";
import { LastReadings } from "../../src/sensor/last_readings.ts";
import { createJsonParser, parseText } from "../../src/sensor/line_parser.ts";
import { MAX_LINE_BYTES } from "../../src/sensor/line_reader.ts";
import { TestClock } from "../helpers/test_clock.ts";
import { createTestLogger } from "../helpers/test_logger.ts";

/** A hundred times what it takes, and less than anything quadratic does. */
const LIMIT_MS = 2000;
const MEASUREMENTS = 3; // the shortest one counts: other work may delay some

/** Returns a text of 64 KiB that repeats a part, between a start and an end. */
function long(part: string, end = "x", start = ""): string {
  const room = MAX_LINE_BYTES - start.length - end.length;
  return start + part.repeat(room / part.length) + end;
}

const logger = createTestLogger(() => {});
const clock = new TestClock();
const responses = createResponsesTo(false);

/** Serves a line to Prometheus, as a text and as JSON of one of several sensors. */
async function readLine(line: string): Promise<void> {
  for (const keys of [undefined, ["a", "b"]]) {
    const chunks = [new TextEncoder().encode(`${line}\n`)];
    const read = (bytes: Uint8Array) => {
      const chunk = chunks.shift();
      if (chunk) bytes.set(chunk);
      return Promise.resolve(chunk?.length ?? null);
    };
    const readings = new LastReadings(300, "", logger, clock);
    await followInput({
      input: { read },
      parse: keys ? createJsonParser(keys) : parseText,
      readings,
      logger,
      stop: new AbortController().signal,
      clock,
    });
    const reading = readings.read();
    if ("time" in reading) formatMetrics(reading);
  }
}

/** Answers and logs a request with a target. */
function answer(target: string | undefined): void {
  const resource = createResource(() => ({ json: "1" }), responses);
  const handler = withAccessLog(resource, logger, clock);
  const request = new Request("http://board/datasensor");
  handler(request, { client: "192.0.2.7", target });
}

/** What receives a text, and the worst texts for it. */
const RECEIVERS: [
  what: string,
  receive: (text: string) => void | Promise<void>,
  texts: string[],
][] = [
  ["a line of a sensor", readLine, [
    ...["1", " ", "1.", "\t\r", "e1", "\\"].map((part) => long(part)),
    ...["1", " ", "1 "].map((part) => long(part, 'x"', '"')),
    long("1", "x", "1".repeat(MAX_LINE_BYTES / 2) + "."),
    long("[", ""),
    long("1,", "1]", "["),
    long('"a":1,', '"a":1}', "{"),
    long("a", '":1}', '{"'),
    ...["1", "1e", '\\"', "\\\\"].map((part) => long(part, '"}', '{"a":"')),
    ...["1", "1e1,", "1.", "-"].map((part) => long(part, "}", '{"a":')),
    // Tokens, after which a text may go on
    ...[
      "1",
      "1 ",
      "1.",
      "1e",
      '"',
      "\\",
      '\\"',
      "[",
      "[ ",
      '"":',
      "{,",
      "-",
      " ",
    ]
      .flatMap((part) => [long(part, ","), long(part, ",", '"')]),
    long("1234567890123456,", "1]}", '{"a":1,"b":['),
  ]],
  [
    "an Accept field",
    (text) => {
      for (const accept of [text, "*/*"]) { // the last result is cached
        isScrape(new Request("http://board/", { headers: { accept } }));
      }
    },
    ["text/plain;", "text/plain; ", ",", ", ;", "text/plain;version=0.0.4x"]
      .map((part) => long(part)),
  ],
  [
    "a Host field and a target",
    (text) => {
      for (const url of [`http://${text}/`, `http://board/${text}`, text]) {
        for (const host of [text, "board"]) {
          const headers = new Headers({ host: host.trim() });
          answer(requestTarget({ url, headers } as Request));
        }
      }
    },
    ["a", "%41", "%", "[", ":1", "a.", "/", "?", "@"]
      .flatMap((part) => [long(part), long(part, "\\")]),
  ],
  [
    "a target that is decoded and logged",
    answer,
    ["%64", "%", "%ff", '"', "\\", "°", "?", "/"].map((part) => long(part)),
  ],
];

for (const [what, receive, texts] of RECEIVERS) {
  Deno.test(`${what} takes no longer than its length`, async () => {
    for (const text of texts) {
      let shortest = Infinity;
      for (let i = 0; i < MEASUREMENTS && shortest >= LIMIT_MS; i++) {
        const start = performance.now();
        await receive(text);
        shortest = Math.min(shortest, performance.now() - start);
      }
      const took = `${text.slice(0, 40)}… took ${shortest} ms`;
      assert(shortest < LIMIT_MS, took);
    }
  });
}
