// The README's table "HTTP interface", row by row: the requests that it describes are
// answered as it says.

import { assert, assertEquals } from "@std/assert";
import { guide, readme } from "../helpers/guide.ts";
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

/** Sends a request. */
async function send(program: Program, request: string, host = "board") {
  const head = `${request} HTTP/1.1\r\nHost: ${host}\r\n`;
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

Deno.test("the program ignores an invalid Host header where the guide says so", async () => {
  guide.match(
    /unless\s+its\s+target\s+is\s+a\s+full\s+URL\s+of\s+another\s+host\s+than\s+`localhost`/,
  );
  await using program = await Program.start();
  const request = "GET http://other/datasensor";
  assertEquals((await send(program, request, INVALID_HOST)).status, "200");
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
  const tested = new Set(EXAMPLES.map(({ row }) => row)).add(INTERNAL_ERROR);
  assertEquals([...TABLE.keys()], [...tested]);
});
