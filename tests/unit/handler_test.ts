// The resource: how each request is answered.

import { assertEquals } from "@std/assert";
import { createHandler, type Handler } from "../../src/handler.ts";
import type { Reading, Sensor } from "../../src/sensor.ts";

const METHODS = "GET, HEAD, OPTIONS";
const read = () => ({ json: '"Sensor data"' });
const fail = () => ({ unavailable: "No reading yet" });
const handler = createHandler(read, false);
const corsHandler = createHandler(read, true);

/** A status, a body, and the header fields that not all responses have. */
type Answer = [status: number, body: string, fields: Record<string, string>];

/** Returns the answer to a request. Its target is null if its Host is invalid. */
async function send(
  handle: Handler,
  method: string,
  target: string | null = "/datasensor",
): Promise<Answer> {
  // `new Request` would reject some methods
  const response = handle({ method } as Request, target ?? undefined);
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

const JSON_TYPE = { "content-type": "application/json" };
const OK: Answer = [200, '"Sensor data"', JSON_TYPE];
const NOT_FOUND = problem(404, "Not Found", "The only resource is /datasensor");
const UNAVAILABLE = problem(503, "Service Unavailable", "No reading yet");
const BAD_REQUEST = problem(
  400,
  "Bad Request",
  "The Host header field is invalid",
);
const NOT_ALLOWED = problem(
  405,
  "Method Not Allowed",
  "The resource is read-only: use GET, HEAD or OPTIONS",
  { allow: METHODS },
);

Deno.test("createHandler() answers GET and HEAD with only the JSON string", async () => {
  // Deno.serve omits the body for HEAD
  for (const method of ["GET", "HEAD"]) {
    assertEquals(await send(handler, method), OK);
  }
});

Deno.test("createHandler() answers OPTIONS with 204 and Allow", async () => {
  assertEquals(await send(handler, "OPTIONS"), [204, "", { allow: METHODS }]);
});

Deno.test("createHandler() answers other methods with 405 and Allow", async () => {
  for (const method of ["POST", "DELETE", "CONNECT", "BREW", "get"]) {
    assertEquals(await send(handler, method), NOT_ALLOWED);
  }
});

const FOUND = [
  ...["/datasensor?", "/datasensor?x=1", "/datasensor?/../%"],
  ...["/%64atasensor", "/%64%61%74%61sensor?x=%"],
];
const MISSING = [
  ...["/", "", "/*", "/?/datasensor", "/Datasensor", "/datasenso"],
  ...["//datasensor", "/datasensor/", "/./datasensor", "/a/../datasensor"],
  ...["/datasensor%", "/datasensor%2F", "/datasensor%3Fx=1"],
  ...["/%64atasensor%zz", "/%2564atasensor"],
];

for (const target of [...FOUND, ...MISSING]) {
  const answer = FOUND.includes(target) ? OK : NOT_FOUND;
  Deno.test(`createHandler() answers "${target}" with ${answer[0]}`, async () => {
    assertEquals(await send(handler, "GET", target), answer);
  });
}

Deno.test("createHandler() answers any method with 404 or, if the Host is invalid, with 400", async () => {
  for (const method of ["GET", "POST", "OPTIONS"]) {
    assertEquals(await send(handler, method, "/"), NOT_FOUND);
    assertEquals(await send(handler, method, null), BAD_REQUEST);
  }
});

Deno.test("createHandler() answers 503 while there is no reading", async () => {
  let sensor: Sensor = read;
  const handler = createHandler(() => sensor(), false);
  assertEquals(await send(handler, "GET"), OK);
  sensor = fail;
  assertEquals(await send(handler, "GET"), UNAVAILABLE);
  assertEquals(await send(handler, "HEAD"), UNAVAILABLE);
  assertEquals((await send(handler, "OPTIONS"))[0], 204);
  sensor = read;
  assertEquals(await send(handler, "GET"), OK);
});

Deno.test("createHandler() serves each reading with its time, and serializes it once", async () => {
  let count = 0;
  let reading: Reading = {
    get json() {
      return String(++count);
    },
    time: new Date("2026-11-20T17:14:00Z"),
  };
  const handler = createHandler(() => reading, false);
  const time = { "last-modified": "Fri, 20 Nov 2026 17:14:00 GMT" };
  const first: Answer = [200, "1", { ...JSON_TYPE, ...time }];
  assertEquals(await send(handler, "GET"), first);
  assertEquals(await send(handler, "GET"), first);
  reading = { json: "22", time: new Date("2026-11-21T17:14:09.999Z") };
  const later = { "last-modified": "Sat, 21 Nov 2026 17:14:09 GMT" };
  const second: Answer = [200, "22", { ...JSON_TYPE, ...later }];
  assertEquals(await send(handler, "GET"), second);
});

Deno.test("createHandler() lets other origins read all responses with --cors", async () => {
  const origin = { "access-control-allow-origin": "*" };
  function withOrigin([status, body, fields]: Answer): Answer {
    return [status, body, { ...fields, ...origin }];
  }
  assertEquals(await send(corsHandler, "GET"), withOrigin(OK));
  assertEquals(await send(corsHandler, "POST"), withOrigin(NOT_ALLOWED));
  assertEquals(await send(corsHandler, "GET", "/"), withOrigin(NOT_FOUND));
  assertEquals(await send(corsHandler, "GET", null), withOrigin(BAD_REQUEST));
  const silent = createHandler(fail, true);
  assertEquals(await send(silent, "GET"), withOrigin(UNAVAILABLE));
  const preflight: Answer = [204, "", {
    allow: METHODS,
    "access-control-allow-headers": "*",
    "access-control-allow-methods": METHODS,
  }];
  assertEquals(await send(corsHandler, "OPTIONS"), withOrigin(preflight));
});
