// The resource: how each request is answered.

import { assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import {
  createHandler,
  type Handler,
  withErrors,
} from "../../../src/http/handler.ts";
import { createResponses } from "../../../src/http/responses.ts";
import type { Reading, Sensor } from "../../../src/sensor/sensor.ts";

const METHODS = "GET, HEAD, OPTIONS";

/** A status, a body, and the header fields that not all responses have. */
type Answer = [status: number, body: string, fields: Record<string, string>];

/** Returns the answer to a request. Its target is undefined if its Host is invalid. */
async function send(
  handle: Handler,
  method: string,
  target?: string,
): Promise<Answer> {
  // `new Request` would reject some methods
  const response = handle({ method } as Request, { client: "", target });
  const {
    "cache-control": caching,
    "x-content-type-options": sniffing,
    ...fields
  } = Object.fromEntries(response.headers);
  assertEquals([caching, sniffing], ["no-store", "nosniff"]);
  return [response.status, await response.text(), fields];
}

/** Returns an answer with problem details. */
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

const READING: Reading = { json: '"Sensor data"' };
const ALLOW = { allow: METHODS };
const JSON_TYPE = { "content-type": "application/json" };
const OK: Answer = [200, '"Sensor data"', JSON_TYPE];
const OPTIONS: Answer = [204, "", ALLOW];
const INVALID_HOST = "The Host header field is invalid";
const BAD_REQUEST = problem(400, "Bad Request", INVALID_HOST);
const NOT_FOUND = problem(404, "Not Found", "The only resource is /datasensor");
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const NOT_ALLOWED = problem(405, "Method Not Allowed", READ_ONLY, ALLOW);
const UNAVAILABLE = problem(503, "Service Unavailable", "No reading yet");

const FOUND = [
  ...["/datasensor", "/datasensor?", "/datasensor?x=1", "/datasensor?/../%"],
  ...["/%64atasensor", "/%64%61%74%61sensor?x=%"],
];
const MISSING = [
  ...["/", "", "/*", "/?/datasensor", "/Datasensor", "/datasenso"],
  ...["//datasensor", "/datasensor/", "/./datasensor", "/a/../datasensor"],
  ...["/datasensor%", "/datasensor%2F", "/datasensor%3Fx=1"],
  ...["/%64atasensor%zz", "/%2564atasensor"],
];

/** Methods and targets, and what answers each of these requests. */
const REQUESTS: [string[], (string | undefined)[], Answer][] = [
  [["GET", "HEAD"], FOUND, OK], // Deno.serve omits the body for HEAD
  [["OPTIONS"], ["/datasensor"], OPTIONS],
  [["POST", "DELETE", "BREW", "get"], ["/datasensor"], NOT_ALLOWED],
  [["GET", "POST", "OPTIONS"], MISSING, NOT_FOUND],
  [["GET", "POST", "OPTIONS"], [undefined], BAD_REQUEST],
];

/** Returns an answer as it is with --cors. */
function withCors([status, body, fields]: Answer): Answer {
  const preflight = {
    "access-control-allow-headers": "*",
    "access-control-allow-methods": METHODS,
  };
  return [status, body, {
    ...fields,
    ...(status === 204 ? preflight : {}),
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "Date",
  }];
}

for (const cors of [false, true]) {
  const flag = cors ? " with --cors" : "";
  const expected = (answer: Answer) => cors ? withCors(answer) : answer;

  for (const [methods, targets, answer] of REQUESTS) {
    for (const target of targets) {
      Deno.test(`createHandler() answers ${methods} of "${target}" with ${answer[0]}${flag}`, async () => {
        const handler = createHandler(() => READING, createResponses(cors));
        for (const method of methods) {
          assertEquals(await send(handler, method, target), expected(answer));
        }
      });
    }
  }

  Deno.test(`createHandler() answers 503 while there is no reading${flag}`, async () => {
    let current: ReturnType<Sensor> = READING;
    const handler = createHandler(() => current, createResponses(cors));
    const get = () => send(handler, "GET", "/datasensor");
    assertEquals(await get(), expected(OK));
    current = "No reading yet";
    assertEquals(await get(), expected(UNAVAILABLE));
    assertEquals(await send(handler, "HEAD", "/datasensor"), await get());
    const options = await send(handler, "OPTIONS", "/datasensor");
    assertEquals(options, expected(OPTIONS));
    current = READING;
    assertEquals(await get(), expected(OK));
  });
}

Deno.test("createHandler() serves each reading with its time, and serializes it once", async () => {
  let count = 0;
  let reading: Reading = {
    get json() {
      return String(++count);
    },
    time: new Date("2026-11-20T17:14:00Z"),
  };
  const handler = createHandler(() => reading, createResponses(false));
  const get = () => send(handler, "GET", "/datasensor");
  const time = { "last-modified": "Fri, 20 Nov 2026 17:14:00 GMT" };
  const first: Answer = [200, "1", { ...JSON_TYPE, ...time }];
  assertEquals([await get(), await get()], [first, first]);
  reading = { json: "22", time: new Date("2026-11-21T17:14:09.999Z") };
  const later = { "last-modified": "Sat, 21 Nov 2026 17:14:09 GMT" };
  assertEquals(await get(), [200, "22", { ...JSON_TYPE, ...later }]);
});

Deno.test("withErrors() answers 500 without details, and logs the error and its stack", async () => {
  const log: unknown[] = [];
  const write = (message: unknown) => log.push(message);
  const logger = { error: write, debug: write } as unknown as Logger;
  const detail = "The sensor data is not available at the moment";
  const failed = problem(500, "Internal Server Error", detail);
  const error = new TypeError("On fire");
  for (const thrown of [error, "on fire"]) {
    const fail = () => {
      throw thrown;
    };
    const handler = withErrors(fail, createResponses(false), logger);
    assertEquals(await send(handler, "GET", "/datasensor"), failed);
  }
  const message = "The handler failed: ";
  assertEquals(log, [`${message}${error}`, error.stack, `${message}on fire`]);
});
