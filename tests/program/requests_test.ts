// How the program answers and logs requests over HTTP/1.

import { assertEquals, assertMatch } from "@std/assert";
import { exchange } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";

const METHODS = "GET, HEAD, OPTIONS";
const PROBLEM = "application/problem+json";

/** What the responses with a status have in common. */
const RESPONSES = {
  200: { allow: "", type: "application/json", body: /^"Sensor data"$/ },
  204: { allow: METHODS, type: "", body: /^$/ },
  400: { allow: "", type: PROBLEM, body: /"status":400/ },
  404: { allow: "", type: PROBLEM, body: /"status":404/ },
  405: { allow: METHODS, type: PROBLEM, body: /"status":405/ },
};

type Exchange = [
  request: string,
  status: keyof typeof RESPONSES,
  logged?: string, // by default, the request
  rest?: string, // of the head, if it is unusual
];

const EXCHANGES: Exchange[] = [
  ["GET /datasensor", 200],
  ["GET /datasensor?x=1", 200],
  ["GET http://x/%64atasensor", 200, "GET /%64atasensor"],
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.0"], // without a Host
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.1"],
  [
    "GET /datasensor",
    200,
    "GET /datasensor",
    "HTTP/1.1\r\nHost: board\r\nAccept: text/html\r\n" +
    "Range: bytes=0-1\r\nIf-None-Match: *\r\nOrigin: http://other\r\n" +
    "Accept-Encoding: gzip\r\nContent-Length: 0",
  ],
  ["HEAD /datasensor", 200],
  ["OPTIONS /datasensor", 204],
  ["POST /datasensor", 405],
  ["BREW /datasensor", 405],
  ["get /datasensor", 405],
  ["POST /", 404],
  ["GET /a/../datasensor", 404],
  ["OPTIONS *", 404, "OPTIONS /*"],
  ["CONNECT %2Fdatasensor", 404, "CONNECT /"],
  ["GET http://%2Fdatasensor?x", 404, "GET /?x"],
  ['GET /datasensor"%20200\x9b', 404, 'GET /datasensor\\"%20200\\xc2\\x9b'],
  [`GET /${"a".repeat(60_000)}`, 404, `GET /${"a".repeat(999)}\\...`],
  ["GET /secret", 400, "GET -", "HTTP/1.1\r\nHost: b/datasensor?"],
  ["GET /datasensor", 400, "GET -", "HTTP/1.1\r\nHost: \u00e9"],
];

for (const [flag, origin] of [["--debug", ""], ["--cors", "*"]] as const) {
  Deno.test(`the program answers and logs every kind of request with ${flag}`, async () => {
    await using program = await Program.start([flag]);
    for (const [request, status, , rest] of EXCHANGES) {
      const end = rest ?? "HTTP/1.1\r\nHost: board";
      const head = `${request} ${end}\r\nConnection: close\r\n\r\n`;
      const response = await exchange(program.port, head);
      const [fields = "", body = ""] = response.split("\r\n\r\n");
      const field = (name: string) =>
        fields.match(RegExp(`^${name}: (.*)$`, "mi"))?.[1] ?? "";
      const expected = RESPONSES[status];
      assertMatch(fields, RegExp(`^HTTP/1\\.\\d ${status} `), request);
      assertEquals(field("allow"), expected.allow);
      assertEquals(field("content-type"), expected.type);
      assertEquals(field("cache-control"), "no-store");
      assertEquals(field("access-control-allow-origin"), origin);
      assertMatch(body, request.startsWith("HEAD") ? /^$/ : expected.body);
    }
    await program.stop();
    assertEquals(
      program.lines.map((line) => line.replace(/\[[\w/]{11} [\d:]{8}\] /, "")),
      EXCHANGES.map(([request, status, logged = request]) =>
        `127.0.0.1 - - "${logged} HTTP/1.1" ${status} -`
      ),
    );
  });
}
