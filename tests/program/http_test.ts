// What Deno.serve makes of requests before the program answers them, and what curl sees. The
// unit tests have all answers.

import { assert, assertEquals } from "@std/assert";
import { cancel, type Fields, openHttp2, requests } from "../helpers/http2.ts";
import { exchange, receive } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { testWith } from "../helpers/skip.ts";

const HTTP = "HTTP/1.1\r\nHost: board";

/** Requests over HTTP/1, with the rest of their heads, and what is logged of them. */
const HTTP1: [request: string, rest: string, logged: string][] = [
  ["GET http://x/%64atasensor", HTTP, "GET /%64atasensor 200"],
  ["GET http://x//datasensor", "HTTP/1.1\r\nHost: b/x?", "GET - 400"],
  ["GET /datasensor", "HTTP/1.0", "GET /datasensor 200"], // without a Host
  ["HEAD /datasensor", HTTP, "HEAD /datasensor 200"],
  ["OPTIONS /datasensor", HTTP, "OPTIONS /datasensor 204"],
  ["get /datasensor", HTTP, "get /datasensor 405"],
  ["GET /a/../datasensor", HTTP, "GET /a/../datasensor 404"],
  ["OPTIONS *", HTTP, "OPTIONS /* 404"],
  ["CONNECT %2Fdatasensor", HTTP, "CONNECT / 404"],
  ["GET /\x9b", HTTP, "GET /\\xc2\\x9b 404"],
  ["GET /secret", "HTTP/1.1\r\nHost: b/datasensor?", "GET - 400"],
  ["GET /datasensor", "HTTP/1.1\r\nHost: \u00e9", "GET - 400"],
];

const OMIT = undefined;

/** Unusual fields over HTTP/2, and what is logged. */
const HTTP2: [fields: Fields, logged: string][] = [
  [{ ":authority": OMIT }, "GET /datasensor 200"],
  [{ ":path": "/datasensor?x=1#y" }, "GET /datasensor?x=1 200"],
  [{ ":path": "//x/datasensor" }, "GET //x/datasensor 404"],
  [{ ":path": "?x" }, "GET /?x 404"],
  [{ ":path": "*", ":method": "OPTIONS" }, "OPTIONS /* 404"],
  [{ ":path": "*" }, "GET / 404"],
  [{ ":method": "CONNECT", ":scheme": OMIT, ":path": OMIT }, "CONNECT / 404"],
  [{ ":authority": OMIT, host: "a/datasensor?" }, "GET - 400"],
  [{ ":path": "/datasensor?/", host: "b" }, "GET /datasensor?/ 200"],
];

Deno.test("the program answers and logs unusual requests over HTTP/1 and HTTP/2", async () => {
  await using program = await Program.start();
  for (const [request, rest, logged] of HTTP1) {
    const head = `${request} ${rest}\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(program.port, head);
    assertEquals(answer.split(" ")[1], logged.split(" ").at(-1), request);
  }
  for (const [index, [fields]] of HTTP2.entries()) {
    using _connection = await openHttp2(
      program.port,
      [],
      ...requests(1, fields),
    );
    await program.waitForLines(HTTP1.length + index + 1);
  }
  await program.stop();
  assertEquals(program.messages, []);
  const all = [
    ...HTTP1.map(([, , line]) => line),
    ...HTTP2.map(([, line]) => line),
  ];
  assertEquals(program.requests, all.map((line) => `127.0.0.1 ${line}`));
});

const test = testWith("curl");

test("the program answers HEAD over HTTP/2 with the status and the length of GET, and without a body", async () => {
  await using program = await Program.start();
  const request = async (flag: string) => {
    const args = ["--http2-prior-knowledge", flag, program.url];
    const { code, stdout } = await output("curl", args);
    const [head = "", body] = stdout.split("\r\n\r\n");
    return [code, head.match(/^(HTTP|content-).*/gm)?.sort(), body];
  };
  const [code, fields, body] = await request("-si");
  assertEquals([code, body], [0, '"Sensor data"']);
  assertEquals(await request("-sI"), [0, fields, ""]); // Deno.serve would send a body
});

Deno.test("the program reads standard input, and serves one Date", async () => {
  const flags = ["--stdin", "--json", "--key", "name"];
  await using program = await Program.start(flags);
  const line = '{"name": "a//b c", "t": 21.50}';
  await program.write(`${line}\n`);
  await program.waitForAnswer(`{"a//b c":${line}}`);
  const one = await fetch(`${program.url}/a//b%20c`);
  assertEquals(await one.text(), line);
  const time = (name: string) => Date.parse(one.headers.get(name)!);
  const age = time("date") - time("last-modified"); // NaN if Deno added a Date
  assert(age >= 0 && age < 60_000, `${age} ms`);
});

Deno.test("Deno logs nothing beside the program, whose full standard error could hold it up", async () => {
  await using program = await Program.start();
  const frames = requests(100)
    .flatMap((request, index) => [request, cancel(2 * index + 1)]);
  using connection = await openHttp2(program.port, [], ...frames);
  await receive(connection).catch(() => {}); // it may be reset
  await program.waitForAnswer();
  await program.stop();
  assertEquals(program.stderr, "");
});
