// The resource: how each request is answered.

import { assertEquals } from "@std/assert";
import { createHandler } from "../../src/handler.ts";
import { requestTarget } from "../../src/request_target.ts";
import type { Reading, Sensor } from "../../src/sensor.ts";

const READING = { json: '"Sensor data"' };
const NO_READING = { unavailable: "No reading yet" };
const METHODS = "GET, HEAD, OPTIONS";

/** Returns the response to a request, whose target may be a whole URL. */
function answer(
  method: string,
  target = "/datasensor",
  sensor: Sensor = () => READING,
  cors = false,
): Response {
  const url = target.startsWith("http:") ? target : `http://board${target}`;
  // Deno.serve passes on what `new Request` would reject or change
  const request = { method, url, headers: new Headers() } as Request;
  return createHandler(sensor, cors)(request, requestTarget(request));
}

Deno.test("createHandler() answers GET with only the JSON string", async () => {
  const response = answer("GET");
  assertEquals(response.status, 200);
  assertEquals(await response.text(), '"Sensor data"');
  assertEquals([...response.headers], [
    ["cache-control", "no-store"],
    ["content-type", "application/json"],
    ["x-content-type-options", "nosniff"],
  ]);
});

const FOUND = [
  ...["/datasensor?", "/datasensor?x=1", "/datasensor?/../%"],
  ...["/%64atasensor", "/%64%61%74%61sensor?x=%"],
];

for (const target of FOUND) {
  Deno.test(`createHandler() answers GET and HEAD ${target} with 200`, () => {
    for (const method of ["GET", "HEAD"]) {
      assertEquals(answer(method, target).status, 200);
    }
  });
}

Deno.test("createHandler() answers OPTIONS with 204 and Allow", () => {
  const response = answer("OPTIONS");
  assertEquals([response.status, response.body], [204, null]);
  assertEquals([...response.headers], [
    ["allow", METHODS],
    ["cache-control", "no-store"],
    ["x-content-type-options", "nosniff"],
  ]);
});

/** Asserts that a response has these problem details. */
async function assertProblem(
  response: Response,
  status: number,
  title: string,
  detail: string,
  fields: [string, string][] = [],
) {
  assertEquals([...response.headers], [
    ...fields,
    ["cache-control", "no-store"],
    ["content-type", "application/problem+json"],
    ["x-content-type-options", "nosniff"],
  ]);
  const body = { type: "about:blank", title, status, detail };
  assertEquals([response.status, await response.json()], [status, body]);
}

Deno.test("createHandler() answers other methods with 405 and Allow", async () => {
  const methods = ["POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"];
  for (const method of [...methods, "BREW", "get"]) {
    await assertProblem(
      answer(method),
      405,
      "Method Not Allowed",
      "The resource is read-only: use GET, HEAD or OPTIONS",
      [["allow", METHODS]],
    );
  }
});

const NOT_FOUND = [
  ...["/", "", "/*", "/?/datasensor", "/Datasensor", "/datasenso"],
  ...["//datasensor", "/datasensor/", "/./datasensor", "/a/../datasensor"],
  ...["/datasensor%", "/datasensor%2F", "/datasensor%3Fx=1"],
  ...["/%64atasensor%zz", "/%2564atasensor"],
];

for (const target of NOT_FOUND) {
  Deno.test(`createHandler() answers "${target}" with 404`, async () => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const detail = "The only resource is /datasensor";
      await assertProblem(answer(method, target), 404, "Not Found", detail);
    }
  });
}

Deno.test("createHandler() answers an invalid Host with 400 on every path", async () => {
  const detail = "The Host header field is invalid";
  for (const target of ["/datasensor", "/x", "/datasensor?/x"]) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const request = new Request(`http://board${target}`, { method });
      const response = createHandler(() => READING, false)(request);
      await assertProblem(response, 400, "Bad Request", detail);
    }
  }
});

Deno.test("createHandler() answers 503 while there is no reading", async () => {
  let current: ReturnType<Sensor> = READING;
  const handler = createHandler(() => current, false);
  const send = (method: string) =>
    handler({ method } as Request, "/datasensor");
  assertEquals(send("GET").status, 200);
  current = NO_READING;
  for (const method of ["GET", "HEAD"]) {
    const detail = "No reading yet";
    await assertProblem(send(method), 503, "Service Unavailable", detail);
  }
  assertEquals(send("OPTIONS").status, 204);
  current = READING;
  assertEquals(send("GET").status, 200);
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
  const read = async () => {
    const response = handler({ method: "GET" } as Request, "/datasensor");
    return [await response.text(), response.headers.get("last-modified")];
  };
  for (const _ of [1, 2]) {
    assertEquals(await read(), ["1", "Fri, 20 Nov 2026 17:14:00 GMT"]);
  }
  reading = { json: "22", time: new Date("2026-11-21T17:14:09.999Z") };
  assertEquals(await read(), ["22", "Sat, 21 Nov 2026 17:14:09 GMT"]);
});

/** Returns the CORS fields of a response. */
function corsFields(...request: Parameters<typeof answer>) {
  return [...answer(...request).headers]
    .filter(([name]) => name.startsWith("access-control"));
}

const ALLOW_ORIGIN = ["access-control-allow-origin", "*"];

Deno.test("createHandler() lets other origins read all responses, but only with --cors", () => {
  for (const sensor of [() => READING, () => NO_READING]) {
    for (const method of ["GET", "HEAD", "POST"]) {
      for (const target of ["/datasensor", "/", "http://^/"]) {
        const fields = (cors: boolean) =>
          corsFields(method, target, sensor, cors);
        assertEquals([fields(false), fields(true)], [[], [ALLOW_ORIGIN]]);
      }
    }
  }
});

Deno.test("createHandler() answers a preflight only with --cors", () => {
  const fields = (cors: boolean) =>
    corsFields("OPTIONS", "/datasensor", () => READING, cors);
  assertEquals(fields(false), []);
  assertEquals(fields(true), [
    ["access-control-allow-headers", "*"],
    ["access-control-allow-methods", METHODS],
    ALLOW_ORIGIN,
  ]);
});
