// The program from start to exit: what it prints, answers, logs and rejects.

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { HELP } from "../../src/command_line.ts";
import { missingAddress, testUnless } from "../helpers/machine.ts";
import { exchange, get, LAST_GET } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { preload, Program, programCommand } from "../helpers/program.ts";

testUnless(
  missingAddress("0.0.0.0", 5000),
  "the program listens on port 5000 of all addresses by default",
  async () => {
    await using program = new Program(...programCommand([]));
    await program.waitUntilListening();
    assertEquals(program.stdout.split("\n").slice(0, 3), [
      " * Debug mode: on",
      " * Running on all addresses (0.0.0.0)",
      " * Running on http://127.0.0.1:5000/datasensor",
    ]);
    const response = await get("http://127.0.0.1:5000/datasensor");
    assertEquals(await response.text(), '"Sensor data"');
  },
);

for (const host of ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"]) {
  testUnless(
    host.includes(":") ? missingAddress("::1") : undefined,
    `the program answers at every address that it reports for ${host}`,
    async () => {
      await using program = await Program.start(["--host", host]);
      assertNotEquals(program.addresses, []);
      for (const address of program.addresses) {
        const { hostname, port } = new URL(address);
        // Not with fetch(), which may use a proxy for this network's addresses
        const to = { hostname: hostname.replace(/^\[|\]$/g, ""), port: +port };
        assertMatch(await exchange(to, LAST_GET), /\r\n\r\n"Sensor data"$/);
      }
    },
  );
}

Deno.test("the program reports every IPv4 address of the machine", async () => {
  // The tests themselves are not permitted to list them
  const code = `for (const { family, address } of Deno.networkInterfaces()) {
    if (family === "IPv4" && !/^127/.test(address)) console.log(address);
  }`;
  const { stdout } = await output(Deno.execPath(), ["eval", code]);
  await using program = await Program.start();
  const reported = program.addresses.map((url) => new URL(url).hostname);
  assertEquals(reported, ["127.0.0.1", ...stdout.match(/.+/g) ?? []]);
});

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
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.1"],
  ["GET /datasensor", 200, "GET /datasensor", "HTTP/1.0"],
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

Deno.test("the program serves the --message text", async () => {
  await using program = await Program.start(["--message", '21.5 °C "dry"']);
  const response = await get(`${program.url}?message=x`);
  assertEquals(await response.text(), '"21.5 °C \\"dry\\""');
});

Deno.test("the program prints its help and exits with 0, or with 2 if a flag is invalid", async () => {
  const help = await output(...programCommand(["--help"]));
  const ended = { code: 0, signal: null, stdout: `${HELP}\n`, stderr: "" };
  assertEquals(help, ended);
  const { code, stdout, stderr } = await output(...programCommand(["--foo"]));
  assertEquals([code, stdout], [2, ""]);
  assertMatch(stderr, /^Unknown flag "--foo"\n.*\n$/);
});

Deno.test("the program exits with 1 and the reason if the port is in use", async () => {
  await using program = await Program.start();
  const port = `${program.port}`;
  const other = await output(...programCommand(["--port", port]));
  assertEquals([other.code, other.stdout], [1, ""]);
  const reason = new RegExp(
    `port ${port}: another program uses the port\n.*\n$`,
  );
  assertMatch(other.stderr, reason);
});

Deno.test("the program answers 500 and logs the stack if its handler fails", async () => {
  const flags = [preload(
    `const { serve } = Deno;
    const handler = () => { throw new TypeError("On fire"); };
    Deno.serve = (options) => serve({ ...options, handler });`,
  )];
  await using program = await Program.start([], { flags });
  const response = await get(program.url);
  assertEquals(response.status, 500);
  await response.body?.cancel();
  await program.stop();
  const log = program.lines.join("\n");
  assertMatch(log, /^ERROR .* On fire\nDEBUG .* On fire\n {4}at /);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`the program exits silently with 0 on ${signal}`, async () => {
    await using program = await Program.start();
    assertEquals((await program.stop(signal)).code, 0);
    assertEquals([program.lines, program.stderr], [[], ""]);
  });
}
