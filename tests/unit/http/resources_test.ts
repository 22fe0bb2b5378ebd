// The resources: how each request is answered.

import { assertEquals } from "@std/assert";
import type { Handler } from "../../../src/http/handler.ts";
import { withHead } from "../../../src/http/head.ts";
import {
  createHandler,
  createSensorLookup,
  createTextLookup,
  type Lookup,
} from "../../../src/http/resources.ts";
import { Responses } from "../../../src/http/responses.ts";
import { LastReadings } from "../../../src/sensor/last_readings.ts";
import { TestClock } from "../../helpers/test_clock.ts";

const METHODS = "GET, HEAD, OPTIONS";

/** A status, a body, and the header fields that not all responses have. */
type Answer = [status: number, body: string, fields: Record<string, string>];

const NOW = "Fri, 20 Nov 2026 17:14:56 GMT"; // of the clock

/** Returns the answer to a request. Its target is undefined if its Host is invalid. */
async function send(
  handle: Handler,
  method: string,
  target?: string,
): Promise<Answer> {
  const request = new Request("http://board", { method });
  const response = handle(request, { client: "", target });
  const body = await response.text();
  const {
    "cache-control": caching,
    "x-content-type-options": sniffing,
    date,
    "content-length": length,
    ...fields
  } = Object.fromEntries(response.headers);
  assertEquals([caching, sniffing, date], ["no-store", "nosniff", NOW]);
  if (method !== "HEAD" && response.status !== 204) {
    assertEquals(length, `${new TextEncoder().encode(body).length}`);
  }
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
const toHead = ([status, , fields]: Answer): Answer => [status, "", fields];

const ALLOW = { allow: METHODS };
const JSON_TYPE = { "content-type": "application/json" };
const OK: Answer = [200, '"Sensor data"', JSON_TYPE];
const OPTIONS: Answer = [204, "", ALLOW];
const INVALID_HOST = "The host of the request is invalid";
const BAD_REQUEST = problem(400, "Bad Request", INVALID_HOST);
const NOT_FOUND = problem(404, "Not Found", "The only resource is /datasensor");
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const NOT_ALLOWED = problem(405, "Method Not Allowed", READ_ONLY, ALLOW);

const FOUND = [
  "/datasensor",
  "/datasensor?/../%",
  "/%64%61%74%61sensor?x=%",
];
const MISSING = [
  "/",
  "/?/datasensor",
  "/Datasensor",
  "//datasensor",
  "/datasensor/",
  "/datasensor%3Fx=1",
  "/%64atasensor%zz",
  "/%2564atasensor",
];

/** Methods and targets, and what answers each of these requests. */
const REQUESTS: [string[], (string | undefined)[], Answer][] = [
  [["GET"], FOUND, OK],
  [["HEAD"], ["/datasensor"], toHead(OK)],
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

/** Creates a handler as the program does. */
function createChain(
  createLookup: (responses: Responses) => Lookup,
  cors = false,
): Handler {
  const responses = new Responses(cors, new TestClock());
  return withHead(createHandler(createLookup(responses), responses));
}

for (const [methods, targets, answer] of REQUESTS) {
  for (const target of targets) {
    Deno.test(`createTextLookup() answers ${methods} of "${target}" with ${answer[0]}`, async () => {
      const create = (responses: Responses) =>
        createTextLookup("Sensor data", responses);
      const handler = createChain(create);
      const open = createChain(create, true);
      for (const method of methods) {
        assertEquals(await send(handler, method, target), answer);
        assertEquals(await send(open, method, target), withCors(answer));
      }
    });
  }
}

const HINT = "it may be asleep";

/** Creates readings of a sensor, or of several, and what answers requests. */
function createSensors({ hasNames = false } = {}) {
  const clock = new TestClock();
  const readings = new LastReadings(15, HINT, clock);
  const handler = createChain((responses) =>
    createSensorLookup(readings, hasNames, responses)
  );
  const get = (target: string) => send(handler, "GET", target);
  return { readings, clock, handler, get };
}

const unavailable = (detail: string) =>
  problem(503, "Service Unavailable", detail);

Deno.test("createSensorLookup() answers 503 while there is no reading", async () => {
  const { readings, clock, handler } = createSensors();
  const expected = unavailable(
    `The sensor has sent no reading so far; ${HINT}`,
  );
  for (const target of ["/datasensor", "/metrics"]) {
    assertEquals(await send(handler, "GET", target), expected);
    assertEquals(await send(handler, "HEAD", target), toHead(expected));
    assertEquals(await send(handler, "OPTIONS", target), OPTIONS);
  }
  for (let second = 0; second < 5; second++) {
    readings.set("21.5");
    clock.monotonicMs += 1000;
  }
  const statuses = async () => [
    (await send(handler, "GET", "/datasensor"))[0],
    (await send(handler, "GET", "/metrics"))[0],
  ];
  assertEquals(await statuses(), [200, 200]);
  clock.monotonicMs += 15_000;
  assertEquals(await statuses(), [503, 503]);
});

Deno.test("createSensorLookup() serves the page, which may only load from the service", async () => {
  const { get } = createSensors();
  const page = await Deno.readTextFile("src/readers/page.html");
  const [status, body, fields] = await get("/");
  assertEquals([status, body], [200, page]);
  assertEquals(fields["content-type"], "text/html; charset=utf-8");
  const policy = fields["content-security-policy"]!.split("; ");
  assertEquals(policy.slice(0, 4), [
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "connect-src 'self'",
  ]);
});

const RESOURCES = problem(
  404,
  "Not Found",
  "The resources are /datasensor, /metrics and /",
);
const UNKNOWN = problem(
  404,
  "Not Found",
  "No sensor of this name has sent a reading since the start, or it was silent for so long that it is forgotten",
);

Deno.test("createSensorLookup() answers 404 for other paths, and 405 for other methods", async () => {
  const { readings, handler, get } = createSensors();
  readings.set("21.5");
  for (
    const target of ["/x", "/datasensor/", "/datasensor/x", "/metrics/", "/%"]
  ) {
    assertEquals(await get(target), RESOURCES);
  }
  for (const target of ["/", "/metrics", "/datasensor"]) {
    assertEquals(await send(handler, "POST", target), NOT_ALLOWED);
  }
});

/** Names of sensors, and paths that lead to them. */
const NAMED: [name: string, ...paths: string[]][] = [
  ["kitchen", "kitchen", "kitchen?x=/attic", "%6bitchen"],
  ["Nexus-TH/1/42", "Nexus-TH/1/42", "Nexus-TH%2F1%2f42"],
  ["LaCrosse-WS3600//7", "LaCrosse-WS3600//7"],
  ["living room", "living%20room"],
  ["100%", "100%25"],
  ["a%2Fb", "a%252Fb"], // a / within one of several keys
  ["a?b#", "a%3Fb%23"],
  ["°", "%C2%B0"],
  ["../x", "../x"],
];

Deno.test("createSensorLookup() serves each sensor at its name, which is decoded once", async () => {
  const { readings, get } = createSensors({ hasNames: true });
  for (const [name] of NAMED) readings.set(JSON.stringify(name), name);
  const fields = { ...JSON_TYPE, "last-modified": NOW };
  for (const [name, ...paths] of NAMED) {
    for (const path of paths) {
      const answer = await get(`/datasensor/${path}`);
      assertEquals(answer, [200, JSON.stringify(name), fields], path);
    }
  }
  for (const path of ["", "Kitchen", "kitchen/", "100%", "a%2Fb", "attic"]) {
    const expected = path === "100%" ? RESOURCES : UNKNOWN;
    assertEquals(await get(`/datasensor/${path}`), expected, path);
  }
});

Deno.test("createSensorLookup() serves the readings of all sensors until the last is silent, and metrics until it is forgotten", async () => {
  const { readings, clock, get } = createSensors({ hasNames: true });
  // The clock of the system stands still, so that Date is the same
  const send = (name: string) => readings.set(`"${name}"`, name);
  const silent = (seconds: number) =>
    unavailable(
      `The last reading is ${seconds} s old: the limit is 15 s (--max-age)`,
    );
  for (let count = 0; count < 3; count++) {
    send("attic");
    clock.monotonicMs += 5000;
  }
  send("kitchen");
  const all = '{"attic":"attic","kitchen":"kitchen"}';
  assertEquals((await get("/datasensor"))[1], all);
  clock.monotonicMs += 12_000;
  assertEquals((await get("/datasensor"))[1], '{"kitchen":"kitchen"}');
  assertEquals(await get("/datasensor/attic"), silent(17));
  clock.monotonicMs += 4000;
  assertEquals(await get("/datasensor"), silent(16));
  assertEquals(await get("/datasensor/attic"), silent(21));
  assertEquals(await get("/datasensor/kitchen"), UNKNOWN); // heard once
  assertEquals((await get("/metrics"))[0], 200);
  clock.monotonicMs += 4001; // 25 s after the last reading of the attic
  assertEquals(await get("/datasensor/attic"), UNKNOWN);
  assertEquals(await get("/metrics"), silent(20.1));
});

Deno.test("Responses repeats a response until the second changes, with Last-Modified at or before Date", async () => {
  const clock = new TestClock();
  const responses = new Responses(false, clock);
  clock.wallMs += 999;
  const reading = { json: "21", time: clock.wallMs + 1 }; // of a clock that was not read at once
  const dates = async () => {
    const response = responses.reading(reading);
    assertEquals(await response.text(), "21");
    return ["date", "last-modified"].map((name) => response.headers.get(name));
  };
  assertEquals(await dates(), [NOW, NOW]);
  clock.wallMs += 1;
  const next = NOW.replace("56", "57");
  assertEquals(await dates(), [next, next]);
  clock.wallMs -= 86_400_000; // as time synchronization may set it
  const before = "Thu, 19 Nov 2026 17:14:57 GMT";
  assertEquals(await dates(), [before, before]);
});
