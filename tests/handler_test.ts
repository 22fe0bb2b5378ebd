import { assertEquals } from "@std/assert";
import { createHandler, requestTarget } from "../src/handler.ts";

const handler = createHandler("Sensor data");
const URL_BASE = "http://board";
const DATA = { status: 200, type: "application/json", allow: null };
const PROBLEM = { type: "application/problem+json" };
const NOT_ALLOWED = { ...PROBLEM, status: 405, allow: "GET, HEAD, OPTIONS" };
const NOT_FOUND = { ...PROBLEM, status: 404, allow: null };

/** Deno.serve hands on what `new Request` would refuse or change. */
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

Deno.test("createHandler() escapes the message as JSON", async () => {
  for (const message of ['"\\\n\u0000', "21,5 °C", "\ud800", "🌡"]) {
    const response = createHandler(message)(
      request("GET", `${URL_BASE}/datasensor`),
    );
    assertEquals(JSON.parse(await response.text()), message);
  }
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
    "?/datasensor",
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
    detail: "There is nothing here, the sensor data is at /datasensor",
  });
  const notAllowed = handler(request("POST", `${URL_BASE}/datasensor`));
  assertEquals(await notAllowed.json(), {
    type: "about:blank",
    title: "Method Not Allowed",
    status: 405,
    detail: "The sensor data is read-only, use one of GET, HEAD, OPTIONS",
  });
});

Deno.test("requestTarget() cuts the target out of any url", () => {
  const targets = {
    "http://board/datasensor?x=1": "/datasensor?x=1",
    "http://bad host^/datasensor": "/datasensor",
    "https://[::1]:5000/a/../b": "/a/../b",
    "http://a:80": "a:80",
    "http://q?z": "?z",
    "http://h?/x": "?/x",
    "http://a#/x": "#/x",
    "http://board/*": "/*",
  };
  for (const [url, target] of Object.entries(targets)) {
    assertEquals(requestTarget(url), target);
  }
});
