// The resource: what each request is answered.

import { assertEquals } from "@std/assert";
import { createHandler } from "../../src/handler.ts";
import type { Reading, Sensor } from "../../src/sensor.ts";

const READING = { json: '"Sensor data"' };
const handler = createHandler(() => READING, false);
const URL_BASE = "http://board";
const DATA = { status: 200, type: "application/json", allow: null };
const PROBLEM = { type: "application/problem+json" };
const NOT_ALLOWED = { ...PROBLEM, status: 405, allow: "GET, HEAD, OPTIONS" };
const NOT_FOUND = { ...PROBLEM, status: 404, allow: null };

/** Deno.serve passes on what `new Request` would refuse or change. */
function request(method: string, url: string): Request {
  return { method, url, headers: new Headers() } as Request;
}

function answer(method: string, target: string) {
  const { status, headers } = handler(request(method, URL_BASE + target));
  const type = headers.get("content-type");
  return { status, type, allow: headers.get("allow") };
}

Deno.test("createHandler() answers GET with the JSON string alone", async () => {
  const response = handler(request("GET", `${URL_BASE}/datasensor`));
  assertEquals(await response.text(), '"Sensor data"');
  assertEquals([...response.headers], [
    ["cache-control", "no-store"],
    ["content-type", "application/json"],
    ["x-content-type-options", "nosniff"],
  ]);
});

for (const method of ["GET", "HEAD"]) {
  for (
    const target of [
      "/datasensor",
      "/datasensor?x=1",
      "/datasensor?",
      "/datasensor?/../%",
      "/%64atasensor",
      "/%64%61%74%61sensor?x",
    ]
  ) {
    Deno.test(`createHandler() answers ${method} ${target} with 200`, () => {
      assertEquals(answer(method, target), DATA);
    });
  }
}

for (
  const method of [
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "TRACE",
    "CONNECT",
    "BREW",
    "get",
  ]
) {
  Deno.test(`createHandler() answers ${method} with 405`, () => {
    assertEquals(answer(method, "/datasensor"), NOT_ALLOWED);
  });
}

Deno.test("createHandler() answers OPTIONS with 204 and Allow", () => {
  assertEquals(answer("OPTIONS", "/datasensor"), {
    status: 204,
    type: null,
    allow: "GET, HEAD, OPTIONS",
  });
});

for (
  const target of [
    "/",
    "",
    "/*",
    "/datasensor/",
    "//datasensor",
    "/a/../datasensor",
    "/./datasensor",
    "/Datasensor",
    "/datasenso",
    "/datasensor%",
    "/%64atasensor%zz",
    "/datasensor%2F",
    "/datasensor%3Fx=1",
    "/datasensor#x",
    "/%2564atasensor",
    "/favicon.ico",
    "/?/datasensor",
  ]
) {
  Deno.test(`createHandler() answers ${JSON.stringify(target)} with 404`, () => {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      assertEquals(answer(method, target), NOT_FOUND);
    }
  });
}

Deno.test("createHandler() answers errors with problem details", async () => {
  const notFound = handler(request("GET", `${URL_BASE}/x`));
  assertEquals(await notFound.json(), {
    type: "about:blank",
    title: "Not Found",
    status: 404,
    detail: "The only resource is /datasensor",
  });
  const notAllowed = handler(request("POST", `${URL_BASE}/datasensor`));
  assertEquals(await notAllowed.json(), {
    type: "about:blank",
    title: "Method Not Allowed",
    status: 405,
    detail: "The resource is read-only: use GET, HEAD, OPTIONS",
  });
});

Deno.test("createHandler() answers an invalid Host with 400, whatever the path", async () => {
  for (const target of ["/datasensor", "/x", "/datasensor?/x"]) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const response = handler(request(method, `http://bad host^${target}`));
      assertEquals(await response.json(), {
        type: "about:blank",
        title: "Bad Request",
        status: 400,
        detail: "The Host header field is invalid",
      });
    }
  }
});

Deno.test("createHandler() answers with the sensor's reading and its Last-Modified time", async () => {
  let reading: Reading = { json: "21.5", time: Date.UTC(2026, 10, 20, 17, 14) };
  const handler = createHandler(() => reading, false);
  const get = request("GET", `${URL_BASE}/datasensor`);
  for (const _ of [1, 2]) {
    const response = handler(get);
    assertEquals(await response.text(), "21.5");
    assertEquals(
      response.headers.get("last-modified"),
      "Fri, 20 Nov 2026 17:14:00 GMT",
    );
  }
  reading = { json: "22", time: Date.UTC(2026, 10, 21, 17, 14, 9, 999) };
  const response = handler(get);
  assertEquals(await response.text(), "22");
  assertEquals(
    response.headers.get("last-modified"),
    "Sat, 21 Nov 2026 17:14:09 GMT",
  );
});

Deno.test("createHandler() creates its response once for each reading", async () => {
  let built = 0;
  const reading = {
    get json() {
      return String(++built);
    },
  };
  const handler = createHandler(() => reading, false);
  for (const method of ["GET", "HEAD", "GET"]) {
    const response = handler(request(method, `${URL_BASE}/datasensor`));
    assertEquals(await response.text(), "1");
  }
});

Deno.test("createHandler() answers 503 with the reason while there is no reading", async () => {
  let current: ReturnType<Sensor> = { unavailable: "No reading yet" };
  const handler = createHandler(() => current, false);
  for (const method of ["GET", "HEAD"]) {
    const response = handler(request(method, `${URL_BASE}/datasensor`));
    assertEquals(response.status, 503);
    assertEquals(await response.json(), {
      type: "about:blank",
      title: "Service Unavailable",
      status: 503,
      detail: "No reading yet",
    });
  }
  const options = handler(request("OPTIONS", `${URL_BASE}/datasensor`));
  assertEquals(options.status, 204);
  current = { json: "21.5" };
  assertEquals(
    handler(request("GET", `${URL_BASE}/datasensor`)).status,
    200,
  );
});

const ALLOW_ORIGIN = "access-control-allow-origin";

Deno.test("createHandler() lets other origins read every response only with --cors", () => {
  const readings = [READING, { unavailable: "No reading yet" }];
  for (const reading of readings) {
    for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
      for (const url of [`${URL_BASE}/datasensor`, URL_BASE, "http://^/"]) {
        const fieldOf = (cors: boolean) =>
          createHandler(() => reading, cors)(request(method, url))
            .headers.get(ALLOW_ORIGIN);
        assertEquals([fieldOf(true), fieldOf(false)], ["*", null], url);
      }
    }
  }
});

Deno.test("createHandler() answers a preflight only with --cors", () => {
  const preflight = (cors: boolean) =>
    [
      ...createHandler(() => READING, cors)(
        request("OPTIONS", `${URL_BASE}/datasensor`),
      ).headers,
    ].filter(([name]) => name.startsWith("access-control"));
  assertEquals(preflight(false), []);
  assertEquals(preflight(true), [
    ["access-control-allow-headers", "*"],
    ["access-control-allow-methods", "GET, HEAD, OPTIONS"],
    [ALLOW_ORIGIN, "*"],
  ]);
});
