// No text of a client or a sensor holds the program up: 64 KiB of any two tokens of a
// pattern, repeated, take milliseconds, where a quadratic one takes seconds.

import { assert } from "@std/assert";
import { withAccessLog } from "../../src/http/access_log.ts";
import { formatMetrics } from "../../src/http/prometheus.ts";
import { requestTarget } from "../../src/http/request_target.ts";
import { createHandler, createTextLookup } from "../../src/http/resources.ts";
import { Responses } from "../../src/http/responses.ts";
import { ONLY_SENSOR, type Snapshot } from "../../src/sensor/reading.ts";
import { followInput } from "../../src/sensor/input.ts";
import { LastReadings } from "../../src/sensor/last_readings.ts";
import { createJsonParser, parseText } from "../../src/sensor/line_parser.ts";
import { MAX_LINE_BYTES } from "../../src/sensor/line_reader.ts";
import { TestClock } from "../helpers/test_clock.ts";
import { createTestLogger } from "../helpers/test_logger.ts";
import { TestInput } from "./sensor/test_input.ts";

/** A hundred times what the slowest text takes, and less than a quadratic one does. */
const LIMIT_MS = 1000;
const ATTEMPTS = 5; // one within the limit is enough: other work may delay some

const logger = createTestLogger(() => {});
const clock = new TestClock();
const responses = new Responses(false, clock);

/** Serves a line to Prometheus, as a text and as JSON of one of several sensors. */
async function readLine(line: string): Promise<void> {
  for (const keys of [undefined, ["a", "b"]]) {
    const input = new TestInput(clock);
    input.push(`${line}\n`, null);
    const readings = new LastReadings(300, "", clock);
    await followInput({
      input,
      parse: keys ? createJsonParser(keys) : parseText,
      readings,
      logger,
      stop: new AbortController().signal,
      clock,
    });
    formatMetrics(readings.snapshot());
  }
}

/** Answers and logs a request with a target. */
function answer(target: string | undefined): void {
  const resource = createTextLookup("1", responses);
  const handler = withAccessLog(
    createHandler(resource, responses),
    logger,
    clock,
  );
  const request = new Request("http://board/datasensor");
  handler(request, { client: "192.0.2.7", target });
}

/** What receives texts of 64 KiB, and what they consist of. */
interface Receiver {
  receive(text: string): void | Promise<void>;
  readonly start?: string;
  /** Any two of these are repeated. */
  readonly tokens: string[];
  readonly ends: string[];
}

const RECEIVERS: Record<string, Receiver> = {
  "a line of a sensor": {
    receive: readLine,
    tokens: ["1", "-", ".", "e", " ", "\r", "[", "{", ",", ":", '"', "\\"],
    ends: ["", "x", ","],
  },
  "a text of a sensor": {
    receive: readLine,
    start: '{"a":"',
    tokens: ["1", "-", ".", "e", " ", "\\\\", "\\ud800", "/", "%"],
    ends: ['"}', 'x"}', '",'],
  },
  "a Host field and a target": {
    receive(text) {
      const requests = [
        ["board", `http://board/${text}`],
        ["board", text],
        [text, `http://${text}/`],
      ];
      for (const [host, url] of requests) {
        const headers = new Headers({ host: host! });
        requestTarget({ url, headers } as Request);
      }
    },
    tokens: ["a", "%41", "%", "[", "]", ":1", "/", "@"],
    ends: ["", "x", "\\"],
  },
  "a target that is decoded and logged": {
    receive: answer,
    start: "/",
    tokens: ["%64", "%", "%ff", '"', "\\", "°", "?", "/"],
    ends: ["", "x", "%"],
  },
};

/** Yields texts of 64 KiB that repeat two tokens, which may be the same. */
function* longTexts({ start = "", tokens, ends }: Receiver): Generator<string> {
  for (const first of tokens) {
    for (const second of tokens) {
      const word = first + second;
      for (const end of ends) {
        const room = MAX_LINE_BYTES - start.length - end.length;
        yield start + word.repeat(room / word.length) + end;
      }
    }
  }
}

/** Returns the least time that some attempts take, in ms, or one within a limit. */
async function measure(
  attempt: () => void | Promise<void>,
  limit: number,
): Promise<number> {
  let shortest = Infinity;
  for (let i = 0; i < ATTEMPTS && shortest > limit; i++) {
    const start = performance.now();
    await attempt();
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

for (const [what, receiver] of Object.entries(RECEIVERS)) {
  Deno.test(`${what} takes no longer than its length`, async () => {
    for (const text of longTexts(receiver)) {
      const took = await measure(() => receiver.receive(text), LIMIT_MS);
      assert(took <= LIMIT_MS, `${text.slice(0, 40)}… took ${took} ms`);
    }
  });
}

Deno.test("a key takes no longer for many values within it that are no numbers", async () => {
  const format = (key: string) => () => {
    const json = `{"${key}":[${"[[[[[[[]]]]]]],".repeat(2000)}0]}`;
    const current = new Map([[ONLY_SENSOR, { json, time: 0 }]]);
    formatMetrics({ current, silent: new Map() } as unknown as Snapshot);
  };
  const short = await measure(format("a"), 0);
  const limit = 8 * short; // 2 to 3 times as long, or 30 if the key is copied for each
  const long = await measure(format("Ā".repeat(16_000)), limit);
  assert(long <= limit, `${long} ms instead of ${short} ms`);
});
