// The README's table "HTTP interface", row by row: the requests that it describes are
// answered as it says.

import { assert, assertEquals } from "@std/assert";
import { readme } from "../helpers/guide.ts";
import { exchange } from "../helpers/network.ts";
import { preload, Program } from "../helpers/program.ts";

/** The rows of the table: each request, and its response. */
const TABLE = new Map(
  readme.match(/^## HTTP interface\n\n(\|.*?)\n\n/ms)[1]!.split("\n").slice(2)
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .map(([, request, response]) => [request!, response!]),
);

/** The field that all responses have, as the README says. */
const [, CACHING] = readme.match(/`Cache-Control: (.*?)`/);

/** Requests of a row, and the program that they are sent to. */
interface Example {
  row: string;
  requests: string[];
  host?: string;
  args?: string[];
  input?: string;
}

const READS = [
  "GET /datasensor",
  "HEAD /datasensor",
  "GET /datasensor?x=1",
  "HEAD /datasensor?",
  "GET http://other/%64atasensor",
];
const INVALID_HOST = "b/x?";

const EXAMPLES: Example[] = [
  { row: "GET, HEAD `/datasensor`, any query", requests: READS },
  {
    row: "GET, HEAD `/datasensor`, any query",
    requests: READS,
    args: ["--stdin"],
    input: "Sensor data\n",
  },
  {
    row: "the same without a current reading",
    requests: READS,
    args: ["--stdin"],
  },
  { row: "OPTIONS `/datasensor`", requests: ["OPTIONS /datasensor"] },
  {
    row: "other methods on `/datasensor`",
    requests: ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "get"]
      .map((method) => `${method} /datasensor`),
  },
  {
    row: "other paths, even `/datasensor/`",
    requests: [
      "GET /datasensor/",
      "HEAD /",
      "POST /Datasensor",
      "OPTIONS //datasensor",
      "GET /datasensor%2F",
    ],
  },
  {
    row: "an invalid Host header",
    requests: ["GET /datasensor", "POST /x", "GET http://localhost/datasensor"],
    host: INVALID_HOST,
  },
];

/** Sends a request, with more fields that end with CR and LF. */
async function send(
  program: Program,
  request: string,
  host = "board",
  more = "",
) {
  const head = `${request} HTTP/1.1\r\nHost: ${host}\r\n${more}`;
  const end = "Connection: close\r\n\r\n";
  const response = await exchange(program.port, head + end);
  const [fields = "", body = ""] = response.split("\r\n\r\n");
  const [line = "", ...rest] = fields.split("\r\n");
  const headers = new Headers(
    rest.map((field) => field.split(": ") as [string, string]),
  );
  return { status: line.split(" ")[1]!, headers, body };
}

/** Asserts that a response is what the table says of a row, and returns its fields. */
async function assertAnswer(
  program: Program,
  row: string,
  request: string,
  host?: string,
) {
  const said = TABLE.get(row);
  assert(said, `The table has no row "${row}"`);
  const [status] = said.match(/^\d+/)!;
  const [, allow = null] = said.match(/`Allow: (.*?)`/) ?? [];
  const [, type = null] = said.match(/`(\w+\/\w+)`/) ?? [];
  const isError = Number(status) >= 400;
  const { headers, body, ...sent } = await send(program, request, host);
  assertEquals(sent.status, status, request);
  assertEquals(headers.get("allow"), allow, request);
  assertEquals(headers.get("cache-control"), CACHING);
  const problem = "application/problem+json"; // RFC 9457
  assertEquals(headers.get("content-type"), isError ? problem : type, request);
  if (request.startsWith("HEAD")) assertEquals(body, "", request);
  else if (isError) assertEquals(`${JSON.parse(body).status}`, status, request);
  else assertEquals(body, type ? '"Sensor data"' : "", request);
  return { headers, body };
}

for (const { row, requests, host, args = [], input = "" } of EXAMPLES) {
  Deno.test(`the program with [${args}] answers ${row} as the README says`, async () => {
    await using program = await Program.start(args, { hasInput: true });
    await program.write(input);
    if (input) await program.waitForAnswer();
    for (const request of requests) {
      const { headers } = await assertAnswer(program, row, request, host);
      assertEquals(headers.has("last-modified"), input !== "", request);
    }
  });
}

Deno.test("the program ignores an invalid Host header if the target is a full URL of another host", async () => {
  await using program = await Program.start();
  const request = "GET http://other/datasensor";
  assertEquals((await send(program, request, INVALID_HOST)).status, "200");
});

const SCRAPE = "the same from Prometheus";

Deno.test("the program answers Prometheus as the README says, over HEAD too", async () => {
  const [, status, type] = TABLE.get(SCRAPE)!.match(/`: (\d+), `(.*?)`/)!;
  await using program = await Program.start(["--stdin"], { hasInput: true });
  const accept = `Accept: ${type},*/*;q=0.1\r\n`;
  const scrape = (method: string) =>
    send(program, `${method} /datasensor`, "board", accept);
  assertEquals((await scrape("GET")).status, "503");
  await program.write("21.5\n");
  await program.waitForAnswer('"21.5"');
  const { body, ...get } = await scrape("GET");
  const [reading, time] = body.match(/(?<=^datasensor_.* ).*/gm)!;
  assertEquals([get.status, reading], [status, "21.5"]);
  const modified = Date.parse(get.headers.get("last-modified")!) / 1000;
  assert(Number(time) - modified >= 1 && Number(time) - modified < 2, time);
  assertEquals(get.headers.get("content-type"), `${type}; charset=utf-8`);
  assertEquals(get.headers.get("vary"), "Accept");
  const head = await scrape("HEAD");
  for (const { headers } of [get, head]) headers.delete("date");
  assertEquals([head.body, ...head.headers], ["", ...get.headers]);
  const json = await send(program, "GET /datasensor");
  assertEquals([json.body, json.headers.get("vary")], ['"21.5"', "Accept"]);
});

const INTERNAL_ERROR = "an internal error";

Deno.test("the service answers an internal error as the README says, even if it cannot read a request", async () => {
  const failing = `Object.defineProperty(Request.prototype, "url", {
    get() { throw new TypeError("Unforeseen"); },
  });`;
  const flags = [preload(failing)];
  await using program = await Program.start(["--cors"], { flags });
  const request = "GET /datasensor";
  const { headers, body } = await assertAnswer(
    program,
    INTERNAL_ERROR,
    request,
  );
  assertEquals(headers.get("access-control-allow-origin"), "*");
  assert(!body.includes("Unforeseen"), body);
  const [error] = await program.waitForLines(1);
  assertEquals(error, "ERROR The handler failed: TypeError: Unforeseen");
});

Deno.test("each row of the README's table of requests has a test", () => {
  const tested = EXAMPLES.map(({ row }) => row);
  assertEquals(
    new Set(TABLE.keys()),
    new Set([...tested, SCRAPE, INTERNAL_ERROR]),
  );
});
