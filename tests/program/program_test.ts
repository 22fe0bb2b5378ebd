import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  isTaken,
  lacksAddress,
  lacksCommand,
  testUnless,
} from "../helpers/machine.ts";
import { exchange, get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, FLAGS, probe, Program } from "../helpers/program.ts";
import project from "../../deno.json" with { type: "json" };

const LINE =
  /^127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4} \d\d:\d\d:\d\d\] "GET \/datasensor HTTP\/1\.1" 200 -$/;

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
        // Not by fetch(), which may take a proxy to this network's addresses
        const response = await exchange(
          { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) },
          "GET /datasensor HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n",
        );
        assertMatch(response, /\r\n\r\n"Sensor data"$/, address);
      }
    },
  );
}

Deno.test("the program reports each IPv4 address by which others reach it", async () => {
  const { stdout } = await output(Deno.execPath(), [
    "eval",
    "console.log(JSON.stringify(Deno.networkInterfaces()))",
  ]);
  const interfaces: Deno.NetworkInterfaceInfo[] = JSON.parse(stdout);
  const others = interfaces
    .filter(({ family }) => family === "IPv4")
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("127."));
  await using program = await Program.start();
  assertEquals(
    program.addresses.map((address) => new URL(address).hostname),
    ["127.0.0.1", ...others],
  );
});

Deno.test("the program answers two GETs alike and logs a line for each", async () => {
  await using program = await Program.start();
  const bodies = [];
  for (const _ of [1, 2]) {
    const response = await get(program.url);
    assertEquals(response.status, 200);
    bodies.push(await response.text());
  }
  assertEquals(bodies, ['"Sensor data"', '"Sensor data"']);
  const lines = await program.waitForLines(2);
  assertEquals(lines.length, 2);
  for (const line of lines) assertMatch(line, LINE);
});

Deno.test("the program answers with the --message", async () => {
  await using program = await Program.start(["--message", '21.5 °C "dry"']);
  const response = await get(`${program.url}?message=x`);
  assertEquals(await response.text(), '"21.5 °C \\"dry\\""');
});

const HEADERS =
  "cache-control: no-store\r\nx-content-type-options: nosniff\r\n";
const DATA = `HTTP/1.1 200 OK\r\n${HEADERS}content-type: application/json\r\n` +
  `content-length: 13\r\ndate: DATE\r\n\r\n`;
const ALLOW = "allow: GET, HEAD, OPTIONS\r\n";

/** Sends a request, closes, and returns the response without its changing date. */
async function ask(port: number, head: string, body = ""): Promise<string> {
  const request = `${head}\r\nConnection: close\r\n\r\n${body}`;
  const response = await exchange(port, request);
  return response.replace(/(?<=date: ).*/, "DATE")
    .replace("connection: close\r\n", "");
}

const REQUESTS: [head: string, body: string, logged: string][] = [
  ["GET /datasensor HTTP/1.1\r\nHost: board", "", "GET /datasensor"],
  ["GET /datasensor?x=1 HTTP/1.1\r\nHost: board", "", "GET /datasensor?x=1"],
  ["GET /%64atasensor HTTP/1.1\r\nHost: board", "", "GET /%64atasensor"],
  ["GET http://x/datasensor HTTP/1.1\r\nHost: b", "", "GET /datasensor"],
  ["GET /datasensor HTTP/1.1", "", "GET /datasensor"],
  [
    "GET /datasensor HTTP/1.1\r\nHost: board\r\nAccept: text/html\r\n" +
    "Range: bytes=0-1\r\nIf-None-Match: *\r\nOrigin: http://other\r\n" +
    "Accept-Encoding: gzip",
    "",
    "GET /datasensor",
  ],
  [
    "GET /datasensor HTTP/1.1\r\nHost: board\r\nContent-Length: 3",
    "abc",
    "GET /datasensor",
  ],
];

Deno.test("the program answers every spelling of the GET with the same bytes", async () => {
  await using program = await Program.start();
  for (const [head, body] of REQUESTS) {
    const response = await ask(program.port, head, body);
    assertEquals(response, `${DATA}"Sensor data"`, head);
  }
  await program.stop();
  assertEquals(
    program.lines.map((line) => line.slice(line.indexOf('"'))),
    REQUESTS.map(([, , logged]) => `"${logged} HTTP/1.1" 200 -`),
  );
});

Deno.test("the program answers an invalid Host with 400", async () => {
  await using program = await Program.start();
  const requests = [
    "GET /secret HTTP/1.1\r\nHost: b/datasensor?",
    "GET /datasensor HTTP/1.1\r\nHost: bad host^",
    "GET /datasensor?/x HTTP/1.1\r\nHost: b",
    "GET /x HTTP/1.1\r\nHost: b/datasensor?",
    "GET /datasensor HTTP/1.1\r\nHost: \u00e9",
  ];
  const statuses = [];
  for (const head of requests) {
    statuses.push((await ask(program.port, head)).split(" ")[1]);
  }
  assertEquals(statuses, ["400", "400", "200", "400", "400"]);
  const lines = await program.waitForLines(requests.length);
  assertEquals(lines.map((line) => line.split('"').slice(1).join('"')), [
    'GET - HTTP/1.1" 400 -',
    'GET - HTTP/1.1" 400 -',
    'GET /datasensor?/x HTTP/1.1" 200 -',
    'GET - HTTP/1.1" 400 -',
    'GET - HTTP/1.1" 400 -',
  ]);
});

Deno.test("the program answers HTTP/1.0", async () => {
  await using program = await Program.start();
  const response = await exchange(
    program.port,
    "GET /datasensor HTTP/1.0\r\n\r\n",
  );
  assertMatch(response, /^HTTP\/1\.0 200 OK\r\n[^]*\r\n\r\n"Sensor data"$/);
});

Deno.test("the program answers HEAD with the fields of GET and no body", async () => {
  await using program = await Program.start();
  const response = await ask(
    program.port,
    "HEAD /datasensor HTTP/1.1\r\nHost: board",
  );
  assertEquals(response, DATA);
});

Deno.test("the program answers OPTIONS with 204 and Allow", async () => {
  await using program = await Program.start();
  const response = await ask(
    program.port,
    "OPTIONS /datasensor HTTP/1.1\r\nHost: board",
  );
  assertEquals(
    response,
    `HTTP/1.1 204 No Content\r\n${HEADERS}${ALLOW}date: DATE\r\n\r\n`,
  );
});

Deno.test("the program answers other methods with 405 and Allow", async () => {
  await using program = await Program.start();
  for (
    const method of ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "get"]
  ) {
    const response = await ask(
      program.port,
      `${method} /datasensor HTTP/1.1\r\nHost: board\r\nContent-Length: 2`,
      "{}",
    );
    assertEquals(
      response.split("content-length")[0],
      [
        "HTTP/1.1 405 Method Not Allowed\r\n",
        HEADERS,
        ALLOW,
        "content-type: application/problem+json\r\n",
      ].join(""),
    );
  }
});

Deno.test("the program answers everything else with 404", async () => {
  await using program = await Program.start();
  const targets = [
    "GET /",
    "POST /",
    "GET /datasensor/",
    "GET //datasensor",
    "GET /a/../datasensor",
    "GET /Datasensor",
    "GET /datasensor%zz",
    "OPTIONS *",
    "CONNECT board:80",
    "CONNECT %2Fdatasensor",
    "GET http://%2Fdatasensor?x",
    "GET http://x/y/datasensor",
  ];
  for (const target of targets) {
    const response = await ask(program.port, `${target} HTTP/1.1\r\nHost: b`);
    assertEquals(
      response.split("content-length")[0],
      [
        "HTTP/1.1 404 Not Found\r\n",
        HEADERS,
        "content-type: application/problem+json\r\n",
      ].join(""),
      target,
    );
  }
  const lines = await program.waitForLines(targets.length);
  assertEquals(
    lines.map((line) => line.split('"')[1]),
    [
      ...targets.slice(0, 7),
      "OPTIONS /*",
      "CONNECT /",
      "CONNECT /",
      "GET /?x",
      "GET /y/datasensor",
    ].map((request) => `${request} HTTP/1.1`),
  );
});

const FORGERIES = {
  '/datasensor"%20200%20-': '/datasensor\\"%20200%20-',
  "/\\": "/\\\\",
  "/%0a127.0.0.1": "/%0a127.0.0.1",
  "/\x85\x9b31m": "/\\xc2\\x85\\xc2\\x9b31m",
  "/é": "/\\xc3\\xa9",
  [`/${"a".repeat(60_000)}`]: `/${"a".repeat(999)}\\...`,
};

Deno.test("the program lets no request forge a line", async () => {
  await using program = await Program.start();
  for (const target of Object.keys(FORGERIES)) {
    await ask(program.port, `GET ${target} HTTP/1.1\r\nHost: board`);
  }
  await program.stop();
  assertEquals(
    program.lines.map((line) => line.slice(line.indexOf('"'))),
    Object.values(FORGERIES).map((logged) => `"GET ${logged} HTTP/1.1" 404 -`),
  );
});

const USAGE = "Run with --help for the list of flags\n";

const MISTAKES: [args: string[], code: number, stderr: string][] = [
  [["--foo"], 2, `Unknown flag "--foo"\n${USAGE}`],
  [["5001"], 2, `Unexpected argument "5001"\n${USAGE}`],
  [
    ["--port", "http"],
    2,
    `--port takes a whole number from 0 to 65535, not "http"\n${USAGE}`,
  ],
  [
    ["--host", "192.0.2.7"],
    2,
    "--host takes 0.0.0.0, ::, 127.0.0.1, ::1 or localhost, " +
    `not "192.0.2.7"\n${USAGE}`,
  ],
];

for (const [args, code, stderr] of MISTAKES) {
  Deno.test(`the program refuses ${args.join(" ")}`, async () => {
    const result = await output(...command(args));
    assertEquals(result, { code, signal: null, stdout: "", stderr });
  });
}

Deno.test("the program refuses a port in use", async () => {
  await using program = await Program.start();
  const port = String(program.port);
  assertEquals(await output(...command(["--port", port])), {
    code: 1,
    signal: null,
    stdout: "",
    stderr: `Cannot listen on "0.0.0.0", port ${port}: another program uses` +
      " the port\nStop that program, or choose another port with --port\n",
  });
});

Deno.test("--journal prefixes what standard error says with its priority", async () => {
  const wrong = await output(...command(["--journal", "--foo"]));
  assertEquals(
    wrong.stderr,
    '<3>Unknown flag "--foo"\n<3>Run with --help for the list of flags\n',
  );
  await using program = await Program.start();
  const args = ["--journal", "--port", String(program.port)];
  const taken = await output(...command(args));
  assertMatch(taken.stderr, /^<3>Cannot listen .*\n<3>Stop that program.*\n$/);
});

Deno.test("the program prints its help and its version", async () => {
  const help = await output(...command(["--help"]));
  assertMatch(help.stdout, /^Usage: datasensor \[flags\]\n/);
  assertEquals([help.code, help.stderr], [0, ""]);
  const version = await output(...command(["--version"]));
  assertEquals(version.stdout, `${project.version}\n`);
  assertEquals([version.code, version.stderr], [0, ""]);
});

Deno.test("the program ends silently with 0 when nobody reads its help", async () => {
  const pipe = 'exec 3>&1; { "$@"; echo $? >&3; } | head -0';
  const run = command(["--help"]).flat();
  assertEquals(await output("sh", ["-c", pipe, "sh", ...run]), {
    code: 0,
    signal: null,
    stdout: "0\n",
    stderr: "",
  });
});

/** The flag that runs some code before the program. */
function preload(code: string): string {
  return `--preload=data:text/javascript,${encodeURIComponent(code)}`;
}

const FIRE = 'throw new TypeError("The sensor is on fire")';

Deno.test("the program shows where an error of its own happened", async () => {
  const broken = preload(`Deno.addSignalListener = () => { ${FIRE}; }`);
  const result = await output(...command(["--port", "0"], [broken]));
  assertEquals([result.code, result.stdout], [1, ""]);
  assertMatch(result.stderr, /^TypeError: .* on fire\n {4}at .*\/main\.ts:/s);
});

for (
  const [flag, report, logged] of [
    ["--debug", "on", /^ERROR .* on fire\nDEBUG .* on fire\n {4}at /],
    ["--no-debug", "off", /^ERROR .* on fire$/],
  ] as const
) {
  Deno.test(`the program reports ${flag} and logs a failure accordingly`, async () => {
    const flags = [preload(
      `const { serve } = Deno;
      const handler = () => { ${FIRE}; };
      Deno.serve = (options) => serve({ ...options, handler });`,
    )];
    await using program = await Program.start([flag], { flags });
    assertEquals(program.stdout.split("\n")[0], ` * Debug mode: ${report}`);
    const response = await get(program.url);
    assertEquals(response.status, 500);
    await response.body?.cancel();
    await program.stop();
    assertMatch(program.lines.join("\n"), logged);
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`the program ends silently with 0 on ${signal}`, async () => {
    await using program = await Program.start();
    const status = await program.stop(signal);
    assertEquals([status.code, status.signal], [0, null]);
    assertEquals(program.stdout.split("CTRL+C to quit\n")[1], "");
    assertEquals(program.stderr, "");
  });
}

Deno.test("a request handler can do nothing but answer", async () => {
  await using program = new Program(Deno.execPath(), [
    "run",
    ...FLAGS,
    "tests/helpers/permissions_probe.ts",
  ]);
  assertEquals(await probe(program), []);
});

testUnless(await lacksCommand("curl"), "curl reads the data", async () => {
  await using program = await Program.start();
  const { url } = program;
  const result = await output("curl", ["-sS", "--fail", url, url]);
  assertEquals(result.stdout, '"Sensor data""Sensor data"');
  await program.waitForLines(2);
});
