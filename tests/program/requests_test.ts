// The README's table "HTTP interface": what a request over HTTP/1 gets, with what Deno.serve
// makes of it. http2_test.ts sends what only HTTP/2 can.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { readme } from "../helpers/guide.ts";
import { exchange } from "../helpers/network.ts";
import { preload, Program } from "../helpers/program.ts";
import { DEADLINE_MS } from "../helpers/wait.ts";

/** The rows of the table: each request, and its response. */
const TABLE = new Map(
  readme.match(/^## HTTP interface\n\n(\|.*?)\n\n/ms)[1]!.split("\n").slice(2)
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .map(([, request, response]) => [request!, response!]),
);

const READ = "GET, HEAD `/datasensor`, any query";
const ONE_SENSOR = "with `--key`: GET, HEAD `/datasensor/NAME`";
const METRICS = "with `--stdin`: GET, HEAD `/metrics`";
const PAGE = "with `--stdin`: GET, HEAD `/`";
const NO_READING = "these three without a current reading";
const OPTIONS = "OPTIONS of these";
const OTHER_METHOD = "other methods of these";
const OTHER_PATH = "other paths, even `/datasensor/`";
const INVALID_HOST = "an invalid Host header";
const INTERNAL_ERROR = "an internal error";

/** Returns what the table says of a row's response. */
function described(row: string) {
  const said = TABLE.get(row === ONE_SENSOR ? READ : row);
  assert(said, `The table has no row "${row}"`);
  const [status] = said.match(/\d{3}/)!;
  const [, allow = null] = said.match(/`Allow: (.*?)`/) ?? [];
  const [, type = null] = said.match(/`(\w+\/.*?)`/) ?? [];
  const isError = Number(status) >= 400;
  return { status, allow, type: isError ? "application/problem+json" : type };
}

/** Sends a request whose response is what the table says of a row. */
async function send(
  { port }: Program,
  row: string,
  request: string,
  rest = "HTTP/1.1\r\nHost: board", // of its head
) {
  const head = `${request} ${rest}\r\nConnection: close\r\n\r\n`;
  const response = await exchange(port, head);
  const [fields = "", body = ""] = response.split("\r\n\r\n");
  const [line = "", ...others] = fields.split("\r\n");
  const headers = new Headers(
    others.map((field) => field.split(": ") as [string, string]),
  );
  const { status, allow, type } = described(row);
  assertEquals(line.split(" ")[1], status, request);
  assertEquals(headers.get("allow"), allow, request);
  assertEquals(
    headers.get("content-type")?.replace("; charset=utf-8", "") ?? null,
    type,
    request,
  );
  return { headers, body };
}

/** Requests that Deno.serve changes, and one for each other row. */
const EXCHANGES: [
  row: string,
  request: string,
  logged?: string, // by default, the request
  rest?: string,
][] = [
  [READ, "GET http://x/%64atasensor", "GET /%64atasensor"],
  [
    READ,
    "GET http://x/datasensor",
    "GET /datasensor",
    "HTTP/1.1\r\nHost: b/x?",
  ],
  [READ, "GET /datasensor", "GET /datasensor", "HTTP/1.0"], // without a Host
  [READ, "HEAD /datasensor"],
  [OPTIONS, "OPTIONS /datasensor"],
  [OTHER_METHOD, "get /datasensor"],
  [OTHER_PATH, "GET /a/../datasensor"],
  [OTHER_PATH, "OPTIONS *", "OPTIONS /*"],
  [OTHER_PATH, "CONNECT %2Fdatasensor", "CONNECT /"],
  [OTHER_PATH, "GET /\x9b", "GET /\\xc2\\x9b"],
  [INVALID_HOST, "GET /secret", "GET -", "HTTP/1.1\r\nHost: b/datasensor?"],
  [INVALID_HOST, "GET /datasensor", "GET -", "HTTP/1.1\r\nHost: \u00e9"],
];

Deno.test("the program answers every kind of request as the README says, and logs it", async () => {
  await using program = await Program.start();
  for (const [row, request, , rest] of EXCHANGES) {
    await send(program, row, request, rest);
  }
  await program.stop();
  assertEquals(program.messages, []);
  assertEquals(
    program.requests.map(({ client, request, status }) =>
      `${client} ${request} ${status}`
    ),
    EXCHANGES.map(([row, request, logged = request]) =>
      `127.0.0.1 ${logged} ${described(row).status}`
    ),
  );
});

Deno.test("the program serves several sensors, one of them, metrics and the page", async () => {
  const flags = ["--stdin", "--json", "--key", "name"];
  await using program = await Program.start(flags, { hasInput: true });
  for (const path of ["datasensor", "metrics"]) {
    await send(program, NO_READING, `GET /${path}`);
  }
  const line = '{"name": "a//b c", "t": 21.50}';
  await program.write(`${line}\n`);
  const all = `{"a//b c":${line}}`;
  await program.waitForAnswer(all);
  assertEquals((await send(program, READ, "GET /datasensor")).body, all);
  const one = await send(program, ONE_SENSOR, "GET /datasensor/a//b%20c");
  assertEquals(one.body, line);
  const time = (name: string) => Date.parse(one.headers.get(name)!);
  const age = time("date") - time("last-modified");
  assert(age >= 0 && age < DEADLINE_MS, `${age} ms`);
  // A browser's, which asks for what it prefers
  const accept = "HTTP/1.1\r\nHost: board\r\nAccept: text/html";
  const metrics = await send(program, METRICS, "GET /metrics", accept);
  assertMatch(metrics.body, /^datasensor_reading\{.*\} 21\.5$/m);
  const page = await send(program, PAGE, "GET /", accept);
  assertMatch(page.body, /^<!doctype html>/);
});

Deno.test("the program answers an error outside its handlers as the README says", async () => {
  const failing = `Object.defineProperty(Request.prototype, "url", {
    get() { throw new TypeError("Unforeseen"); },
  });`;
  const flags = [preload(failing)];
  await using program = await Program.start([], { flags });
  const { body } = await send(program, INTERNAL_ERROR, "GET /datasensor");
  assert(!body.includes("Unforeseen"), body);
  const [error] = await program.waitForLines(1);
  assertMatch(error!, /^ERROR The handler failed: TypeError: Unforeseen/);
});
