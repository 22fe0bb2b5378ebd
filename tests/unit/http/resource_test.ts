// The resource: how each request is answered.

import { assertEquals } from "@std/assert";
import type { Handler } from "../../../src/http/handler.ts";
import { formatMetrics } from "../../../src/http/prometheus.ts";
import { createResource } from "../../../src/http/resource.ts";
import { createResponsesTo } from "../../../src/http/responses.ts";
import type {
  Measurement,
  Reading,
  Sensor,
} from "../../../src/sensor/reading.ts";

const METHODS = "GET, HEAD, OPTIONS";

/** A status, a body, and the header fields that not all responses have. */
type Answer = [status: number, body: string, fields: Record<string, string>];

/** Returns the answer to a request. Its target is undefined if its Host is invalid. */
async function send(
  handle: Handler,
  method: string,
  target?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = new Request("http://board", { method, headers });
  const response = handle(request, { client: "", target });
  const body = await response.text();
  const {
    "cache-control": caching,
    "x-content-type-options": sniffing,
    ...fields
  } = Object.fromEntries(response.headers);
  assertEquals([caching, sniffing], ["no-store", "nosniff"]);
  return [response.status, body, fields];
}

function problem(
  status: number,
  title: string,
  detail: string,
  fields: Record<string, string> = {},
): Answer {
  const body = { type: "about:blank", title, status, detail };
  const type = { "content-type": "application/problem+json" };
  return [status, JSON.stringify(body), { ...type, ...fields }];
}

/** Returns the answer to HEAD. */
const toHead = ([status, body, fields]: Answer): Answer => {
  const { length } = new TextEncoder().encode(body);
  return [status, "", { ...fields, "content-length": `${length}` }];
};

const READING: Reading = { json: '"Sensor data"' };
const ALLOW = { allow: METHODS };
const JSON_TYPE = { "content-type": "application/json" };
const METRICS_TYPE = {
  "content-type": "text/plain; version=0.0.4; charset=utf-8",
};
const VARY = { vary: "Accept" }; // on each reading of a sensor
const OK: Answer = [200, '"Sensor data"', JSON_TYPE];
const OPTIONS: Answer = [204, "", ALLOW];
const INVALID_HOST = "The host of the request is invalid";
const BAD_REQUEST = problem(400, "Bad Request", INVALID_HOST);
const NOT_FOUND = problem(404, "Not Found", "The only resource is /datasensor");
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const NOT_ALLOWED = problem(405, "Method Not Allowed", READ_ONLY, ALLOW);
const UNAVAILABLE = problem(503, "Service Unavailable", "No reading yet");

const FOUND = [
  "/datasensor",
  "/datasensor?",
  "/datasensor?x=1",
  "/datasensor?/../%",
  "/%64atasensor",
  "/%64%61%74%61sensor?x=%",
];
const MISSING = [
  "/",
  "",
  "/*",
  "/?/datasensor",
  "/Datasensor",
  "/datasenso",
  "//datasensor",
  "/datasensor/",
  "/./datasensor",
  "/a/../datasensor",
  "/datasensor%",
  "/datasensor%2F",
  "/datasensor%3Fx=1",
  "/%64atasensor%zz",
  "/%2564atasensor",
];

/** Methods and targets, and what answers each of these requests. */
const REQUESTS: [string[], (string | undefined)[], Answer][] = [
  [["GET"], FOUND, OK],
  [["HEAD"], ["/datasensor"], toHead(OK)],
  [["HEAD"], ["/"], toHead(NOT_FOUND)],
  [["HEAD"], [undefined], toHead(BAD_REQUEST)],
  [["OPTIONS"], ["/datasensor"], OPTIONS],
  [["POST", "DELETE", "BREW"], ["/datasensor"], NOT_ALLOWED],
  [["GET", "POST", "OPTIONS"], MISSING, NOT_FOUND],
  [["GET", "POST", "OPTIONS"], [undefined], BAD_REQUEST],
];

function withCors([status, body, fields]: Answer): Answer {
  const preflight = {
    "access-control-allow-headers": "*",
    "access-control-allow-methods": METHODS,
  };
  const cors = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Date",
  };
  const more = status === 204 ? { ...cors, ...preflight } : cors;
  return [status, body, { ...fields, ...more }];
}

for (const [methods, targets, answer] of REQUESTS) {
  for (const target of targets) {
    Deno.test(`createResource() answers ${methods} of "${target}" with ${answer[0]}`, async () => {
      const handler = createResource(() => READING, createResponsesTo(false));
      const open = createResource(() => READING, createResponsesTo(true));
      for (const method of methods) {
        assertEquals(await send(handler, method, target), answer);
        assertEquals(await send(open, method, target), withCors(answer));
      }
    });
  }
}

Deno.test("createResource() answers 503 while there is no reading", async () => {
  let current: ReturnType<Sensor> = READING;
  const handler = createResource(() => current, createResponsesTo(false));
  const get = () => send(handler, "GET", "/datasensor");
  assertEquals(await get(), OK);
  current = { unavailable: "No reading yet" };
  assertEquals(await get(), UNAVAILABLE);
  const head = await send(handler, "HEAD", "/datasensor");
  assertEquals(head, toHead(UNAVAILABLE));
  assertEquals(await send(handler, "OPTIONS", "/datasensor"), OPTIONS);
  current = READING;
  assertEquals(await get(), OK);
});

Deno.test("createResource() serves each reading with its time, a second early as Date may be", async () => {
  let reading: Reading = {
    json: "21",
    time: Date.UTC(2026, 10, 20, 0, 0, 0, 999),
  };
  const handler = createResource(() => reading, createResponsesTo(false));
  const get = () => send(handler, "GET", "/datasensor");
  const time = { "last-modified": "Thu, 19 Nov 2026 23:59:59 GMT" };
  const first: Answer = [200, "21", { ...JSON_TYPE, ...VARY, ...time }];
  assertEquals([await get(), await get()], [first, first]);
  reading = { json: '"°"', time: 0 }; // a board without a battery
  const epoch = { "last-modified": "Wed, 31 Dec 1969 23:59:59 GMT" };
  const last: Answer = [200, '"°"', { ...JSON_TYPE, ...VARY, ...epoch }];
  assertEquals(await get(), last);
  const head = await send(handler, "HEAD", "/datasensor");
  assertEquals(head, toHead(last));
});

const SCRAPE = { accept: "text/plain;version=0.0.4" };
const MEASURED: Measurement = { json: "21.5", time: 1000 };

Deno.test("createResource() serves a reading as metrics to scrapers, and as JSON to others in turn", async () => {
  const modified = "Thu, 01 Jan 1970 00:00:00 GMT";
  const fields = { ...VARY, "last-modified": modified };
  for (const cors of [false, true]) {
    const handler = createResource(() => MEASURED, createResponsesTo(cors));
    const expect = (answer: Answer) => cors ? withCors(answer) : answer;
    const text = formatMetrics(MEASURED);
    const metrics = expect([200, text, { ...METRICS_TYPE, ...fields }]);
    const json = expect([200, "21.5", { ...JSON_TYPE, ...fields }]);
    for (const adapt of [(answer: Answer) => answer, toHead]) {
      const method = adapt === toHead ? "HEAD" : "GET";
      const read = (headers?: Record<string, string>) =>
        send(handler, method, "/datasensor", headers);
      for (let turn = 0; turn < 2; turn++) {
        assertEquals(await read(SCRAPE), adapt(metrics));
        assertEquals(await read(), adapt(json));
      }
    }
  }
});

Deno.test("createResource() formats each reading once, although scrapers and others ask in turn", async () => {
  let count = 0; // of readings that were formatted
  const { parse } = JSON;
  JSON.parse = (text) => {
    count++;
    return parse(text);
  };
  try {
    let reading = MEASURED;
    const handler = createResource(() => reading, createResponsesTo(false));
    for (const expected of [1, 2]) {
      for (const headers of [SCRAPE, {}, SCRAPE]) {
        await send(handler, "GET", "/datasensor", headers);
      }
      assertEquals(count, expected);
      reading = { ...MEASURED };
    }
  } finally {
    JSON.parse = parse;
  }
});

Deno.test("createResource() answers a scraper with JSON if the text is fixed, and with 503 without a reading", async () => {
  let current: ReturnType<Sensor> = READING;
  const handler = createResource(() => current, createResponsesTo(false));
  const scrape = () => send(handler, "GET", "/datasensor", SCRAPE);
  assertEquals(await scrape(), OK);
  current = { unavailable: "No reading yet" };
  assertEquals(await scrape(), UNAVAILABLE);
});
