// What Deno.serve makes of requests over HTTP/1: how they are answered and logged.

import { assertEquals, assertMatch } from "@std/assert";
import { exchange, LAST_GET } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";

const IGNORED = "Accept: text/html\r\nAccept-Encoding: gzip\r\n" +
  "Range: bytes=0-1\r\nIf-None-Match: *\r\nOrigin: http://other\r\n";

Deno.test("the program answers GET and HEAD with the same fields, whatever clients accept", async () => {
  await using program = await Program.start();
  const send = async (request: string) => {
    const response = await exchange(program.port, request);
    const [fields = "", body] = response.split("\r\n\r\n");
    return [
      fields.replace(/^date: .*/m, "date: now").split("\r\n").sort(),
      body,
    ];
  };
  const [fields, body] = await send(LAST_GET);
  assertEquals(fields, [
    "HTTP/1.1 200 OK",
    "cache-control: no-store",
    "connection: close",
    "content-length: 13",
    "content-type: application/json",
    "date: now",
    "x-content-type-options: nosniff",
  ]);
  assertEquals(body, '"Sensor data"');
  const more = LAST_GET.replace("\r\n", `\r\n${IGNORED}`);
  assertEquals(await send(more), [fields, body]);
  assertEquals(await send(more.replace("GET", "HEAD")), [fields, ""]);
});

const EXCHANGES: [
  request: string,
  status: number,
  logged?: string, // by default, the request
  rest?: string, // of the head, if it is unusual
][] = [
  ["GET /datasensor?x=1", 200],
  ["GET http://x/%64atasensor", 200, "GET /%64atasensor"],
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.0"], // without a Host
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.1"],
  ["OPTIONS /datasensor", 204],
  ["POST /datasensor", 405],
  ["get /datasensor", 405],
  ["GET /a/../datasensor", 404],
  ["OPTIONS *", 404, "OPTIONS /*"],
  ["CONNECT %2Fdatasensor", 404, "CONNECT /"],
  ["GET http://%2Fdatasensor?x", 404, "GET /?x"],
  ['GET /datasensor"%20200\x9b', 404, 'GET /datasensor\\"%20200\\xc2\\x9b'],
  [`GET /${"a".repeat(60_000)}`, 404, `GET /${"a".repeat(999)}\\...`],
  ["GET /secret", 400, "GET -", "HTTP/1.1\r\nHost: b/datasensor?"],
  ["GET /datasensor", 400, "GET -", "HTTP/1.1\r\nHost: \u00e9"],
];

Deno.test("the program answers and logs every kind of request", async () => {
  await using program = await Program.start();
  for (const [request, status, , rest] of EXCHANGES) {
    const end = rest ?? "HTTP/1.1\r\nHost: board";
    const head = `${request} ${end}\r\nConnection: close\r\n\r\n`;
    const response = await exchange(program.port, head);
    assertMatch(response, RegExp(`^HTTP/1\\.\\d ${status} `), request);
  }
  await program.stop();
  assertEquals(program.messages, []);
  assertEquals(
    program.requests.map(({ client, request, status }) =>
      `${client} ${request} ${status}`
    ),
    EXCHANGES.map(([request, status, logged = request]) =>
      `127.0.0.1 ${logged} ${status}`
    ),
  );
});
