// The program from its start to its end: what it prints, answers, logs, refuses.

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { isTaken, lacksAddress, testUnless } from "../helpers/machine.ts";
import { exchange, get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, preload, Program } from "../helpers/program.ts";
import { LAST_GET } from "../helpers/requests.ts";
import project from "../../deno.json" with { type: "json" };

testUnless(
  isTaken(5000),
  "the program serves the default port 5000, on all addresses",
  async () => {
    await using program = new Program(...command([]));
    await program.listening();
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
    host.includes(":") ? lacksAddress("::1") : undefined,
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
  const code = "console.log(JSON.stringify(Deno.networkInterfaces()))";
  const { stdout } = await output(Deno.execPath(), ["eval", code]);
  const interfaces: Deno.NetworkInterfaceInfo[] = JSON.parse(stdout);
  const others = interfaces
    .filter(({ family, address }) =>
      family === "IPv4" && !address.startsWith("127.")
    )
    .map(({ address }) => address);
  await using program = await Program.start();
  const reported = program.addresses.map((address) =>
    new URL(address).hostname
  );
  assertEquals(reported, ["127.0.0.1", ...others]);
});

const HOST = "Host: board";

/** A request without its end, the response, and the logged request. */
type Exchange = [
  head: string,
  status: "200" | "204" | "400" | "404" | "405",
  logged: string,
];

const EXCHANGES: Exchange[] = [
  [`GET /datasensor HTTP/1.1\r\n${HOST}`, "200", "GET /datasensor"],
  [`GET /datasensor?x=1 HTTP/1.1\r\n${HOST}`, "200", "GET /datasensor?x=1"],
  [`GET http://x/%64atasensor HTTP/1.1\r\n${HOST}`, "200", "GET /%64atasensor"],
  ["GET /datasensor HTTP/1.1", "200", "GET /datasensor"],
  ["GET /datasensor HTTP/1.0", "200", "GET /datasensor"],
  [
    `GET /datasensor HTTP/1.1\r\n${HOST}\r\nAccept: text/html\r\n` +
    "Range: bytes=0-1\r\nIf-None-Match: *\r\nOrigin: http://other\r\n" +
    "Accept-Encoding: gzip\r\nContent-Length: 0",
    "200",
    "GET /datasensor",
  ],
  [`HEAD /datasensor HTTP/1.1\r\n${HOST}`, "200", "HEAD /datasensor"],
  [`OPTIONS /datasensor HTTP/1.1\r\n${HOST}`, "204", "OPTIONS /datasensor"],
  [`POST /datasensor HTTP/1.1\r\n${HOST}`, "405", "POST /datasensor"],
  [`BREW /datasensor HTTP/1.1\r\n${HOST}`, "405", "BREW /datasensor"],
  [`get /datasensor HTTP/1.1\r\n${HOST}`, "405", "get /datasensor"],
  [`POST / HTTP/1.1\r\n${HOST}`, "404", "POST /"],
  [`GET /a/../datasensor HTTP/1.1\r\n${HOST}`, "404", "GET /a/../datasensor"],
  [`OPTIONS * HTTP/1.1\r\n${HOST}`, "404", "OPTIONS /*"],
  [`CONNECT %2Fdatasensor HTTP/1.1\r\n${HOST}`, "404", "CONNECT /"],
  [`GET http://%2Fdatasensor?x HTTP/1.1\r\n${HOST}`, "404", "GET /?x"],
  ["GET /secret HTTP/1.1\r\nHost: b/datasensor?", "400", "GET -"],
  ["GET /datasensor HTTP/1.1\r\nHost: \u00e9", "400", "GET -"],
  [
    `GET /datasensor"%20200\x9b HTTP/1.1\r\n${HOST}`,
    "404",
    'GET /datasensor\\"%20200\\xc2\\x9b',
  ],
  [
    `GET /${"a".repeat(60_000)} HTTP/1.1\r\n${HOST}`,
    "404",
    `GET /${"a".repeat(999)}\\...`,
  ],
];

const PROBLEM = /^application\/problem\+json$/;

/** What the responses with a status have in common. */
const RESPONSES: Record<
  Exchange[1],
  { line: string; allow?: true; type: RegExp; body: RegExp }
> = {
  200: { line: "200 OK", type: /^application\/json$/, body: /^"Sensor data"$/ },
  204: { line: "204 No Content", allow: true, type: /^$/, body: /^$/ },
  400: { line: "400 Bad Request", type: PROBLEM, body: /"status":400/ },
  404: { line: "404 Not Found", type: PROBLEM, body: /"status":404/ },
  405: {
    line: "405 Method Not Allowed",
    allow: true,
    type: PROBLEM,
    body: /"status":405/,
  },
};

for (const flag of ["--debug", "--cors"]) {
  Deno.test(`the program answers and logs every kind of request with ${flag}`, async () => {
    await using program = await Program.start([flag]);
    for (const [head, status] of EXCHANGES) {
      const request = `${head}\r\nConnection: close\r\n\r\n`;
      const response = await exchange(program.port, request);
      const [fields, body] = response.split("\r\n\r\n");
      const [line, ...others] = fields!.split("\r\n");
      const headers = new Headers(
        others.map((field) => field.split(": ") as [string, string]),
      );
      const field = (name: string) => headers.get(name) ?? "";
      const expected = RESPONSES[status];
      assertEquals(line?.slice("HTTP/1.x ".length), expected.line, head);
      assertEquals(
        field("allow"),
        expected.allow ? "GET, HEAD, OPTIONS" : "",
      );
      assertMatch(field("content-type"), expected.type);
      assertMatch(body!, head.startsWith("HEAD") ? /^$/ : expected.body);
      assertEquals(field("cache-control"), "no-store");
      assertEquals(
        field("access-control-allow-origin"),
        flag === "--cors" ? "*" : "",
      );
    }
    await program.stop();
    assertEquals(
      program.lines.map((line) =>
        line.replace(/ \[[\w/]{11} [\d:]{8}\] /, " ")
      ),
      EXCHANGES.map(([, status, logged]) =>
        `127.0.0.1 - - "${logged} HTTP/1.1" ${status} -`
      ),
    );
  });
}

Deno.test("the program answers with the --message", async () => {
  await using program = await Program.start(["--message", '21.5 °C "dry"']);
  const response = await get(`${program.url}?message=x`);
  assertEquals(await response.text(), '"21.5 °C \\"dry\\""');
});

Deno.test("the program refuses invalid flags", async () => {
  const lines = [
    'Unknown flag "--foo"',
    "Run with --help for the list of flags",
  ];
  for (const [args, prefix] of [[[], ""], [["--journal"], "<3>"]] as const) {
    assertEquals(await output(...command([...args, "--foo"])), {
      code: 2,
      signal: null,
      stdout: "",
      stderr: lines.map((line) => `${prefix}${line}\n`).join(""),
    });
  }
});

Deno.test("the program refuses a port in use", async () => {
  await using program = await Program.start();
  const port = String(program.port);
  const lines = [
    `Cannot listen on "0.0.0.0", port ${port}: another program uses the port`,
    "Stop that program, or choose another port with --port",
  ];
  for (const [args, prefix] of [[[], ""], [["--journal"], "<3>"]] as const) {
    assertEquals(await output(...command([...args, "--port", port])), {
      code: 1,
      signal: null,
      stdout: "",
      stderr: lines.map((line) => `${prefix}${line}\n`).join(""),
    });
  }
});

Deno.test("the program prints its help and its version", async () => {
  const help = await output(...command(["--help"]));
  assertMatch(help.stdout, /^Usage: datasensor \[flags\]\n/);
  assertEquals([help.code, help.stderr], [0, ""]);
  const version = await output(...command(["--version"]));
  assertEquals(version.stdout, `${project.version}\n`);
  assertEquals([version.code, version.stderr], [0, ""]);
});

Deno.test("the program exits silently with 0 when nobody reads its help", async () => {
  const pipe = 'exec 3>&1; { "$@"; echo $? >&3; } | head -0';
  const run = command(["--help"]).flat();
  const result = await output("sh", ["-c", pipe, "sh", ...run]);
  assertEquals([result.stdout, result.stderr], ["0\n", ""]);
});

const THROW = 'throw new TypeError("The sensor is on fire")';

Deno.test("the program prints the stack of an error at its start", async () => {
  const broken = preload(`Deno.addSignalListener = () => { ${THROW}; }`);
  const result = await output(...command(["--port", "0"], [broken]));
  assertEquals([result.code, result.stdout], [1, ""]);
  assertMatch(result.stderr, /^TypeError: .* on fire\n {4}at .*\/main\.ts:/s);
});

const MODES: [flag: string, mode: string, log: RegExp][] = [
  ["--debug", "on", /^ERROR .* on fire\nDEBUG .* on fire\n {4}at /],
  ["--no-debug", "off", /^ERROR .* on fire$/],
];

for (const [flag, mode, log] of MODES) {
  Deno.test(`the program logs a handler's error with ${flag}`, async () => {
    const flags = [preload(
      `const { serve } = Deno;
      const handler = () => { ${THROW}; };
      Deno.serve = (options) => serve({ ...options, handler });`,
    )];
    await using program = await Program.start([flag], { flags });
    assertEquals(program.stdout.split("\n")[0], ` * Debug mode: ${mode}`);
    const response = await get(program.url);
    assertEquals(response.status, 500);
    await response.body?.cancel();
    await program.stop();
    assertMatch(program.lines.join("\n"), log);
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`the program exits silently with 0 on ${signal}`, async () => {
    await using program = await Program.start();
    assertEquals((await program.stop(signal)).code, 0);
    assertEquals([program.lines, program.stderr], [[], ""]);
  });
}
