// HTTP/2, which Deno.serve speaks to every client that begins with it: by
// nghttp2's clients, and as bytes.

import { assertEquals, assertMatch } from "@std/assert";
import {
  concat,
  encodeFields,
  type Field,
  frame,
  Http2Connection,
  request,
  TYPE,
  WHOLE,
} from "../helpers/http2.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { within } from "../helpers/wait.ts";

/** What a line says of the request and the response. */
const summary = (line: string) => line.replace(/^127\.0\.0\.1 - .*?\] /, "");

testUnless(await lacksCommand("nghttp"), "nghttp reads the data", async () => {
  await using program = await Program.start();
  const urls = [program.url, `${program.url}?x=1`];
  const { stdout } = await output("nghttp", urls);
  assertEquals(stdout, '"Sensor data""Sensor data"');
  const lines = await program.waitForLines(2);
  assertEquals(lines.map(summary), [
    '"GET /datasensor HTTP/1.1" 200 -',
    '"GET /datasensor?x=1 HTTP/1.1" 200 -',
  ]);
});

testUnless(
  await lacksCommand("h2load"),
  "the program logs each HTTP/2 request of h2load",
  async () => {
    await using program = await Program.start();
    const args = ["-n", "10000", "-c", "20", "-m", "50", program.url];
    const { stdout } = await output("h2load", args);
    assertMatch(stdout, /status codes: 10000 2xx/);
    await program.stop();
    const summaries = new Set(program.lines.map(summary));
    assertEquals([...summaries], ['"GET /datasensor HTTP/1.1" 200 -']);
    assertEquals(program.lines.length, 10_000);
  },
);

const AUTHORITY: Field = [":authority", "board"];

/** Requests that the program answers itself, and what it logs. */
const REQUESTS: [fields: Field[], logged: string, status: number][] = [
  [request().slice(0, 3), "GET /datasensor", 200], // no authority
  [request("/datasensor?x=1#y"), "GET /datasensor?x=1", 200],
  [request("//x/datasensor"), "GET //x/datasensor", 404],
  [request("?x"), "GET /?x", 404],
  [request("*", "OPTIONS"), "OPTIONS /*", 404],
  [request("*", "GET", AUTHORITY), "GET /", 404],
  [request('/"\xc2\x9b31m\x7f'), 'GET /\\"\\xc2\\x9b31m\\x7f', 404],
  [request("/datasensor", "BREW"), "BREW /datasensor", 405],
  [[[":method", "CONNECT"], AUTHORITY], "CONNECT /", 404],
  [request("/x", "GET", [":authority", "user@a"]), "GET -", 400],
  [request("/x", "GET", ["host", "a/datasensor?"]), "GET -", 400],
  [request("/a/b", "GET", ["host", "a"], ["host", "b"]), "GET -", 400],
  [
    request("/datasensor?/", "GET", [":authority", "a:80"], ["host", "b"]),
    "GET /datasensor?/",
    200,
  ],
];

Deno.test("the program answers and logs odd HTTP/2 requests as those of HTTP/1", async () => {
  await using program = await Program.start();
  for (const [index, [fields]] of REQUESTS.entries()) {
    using connection = await Http2Connection.open(program.port);
    await connection.send(frame(TYPE.HEADERS, WHOLE, 1, encodeFields(fields)));
    await program.waitForLines(index + 1);
  }
  assertEquals(
    program.lines.map(summary),
    REQUESTS.map(([, logged, status]) => `"${logged} HTTP/1.1" ${status} -`),
  );
});

Deno.test("the program closes a connection that takes memory, and answers others", async () => {
  await using program = await Program.start();
  using connection = await Http2Connection.open(program.port, [4, 0]); // window 0
  const END_HEADERS = 4;
  const fields = encodeFields(request());
  await connection.send(frame(TYPE.HEADERS, END_HEADERS, 1, fields));
  const closed = connection.drain();
  // Deno keeps each empty frame, as some 240 bytes
  const frames = concat(Array(10_000).fill(frame(TYPE.DATA, 0, 1)));
  try {
    for (let sent = 0; sent < 100; sent++) await connection.send(frames);
  } catch {
    // It was closed by the program
  }
  await within(closed, () => "the connection stays open", 10_000);
  await program.answers();
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stdout.match(/WARN.*/g), [
    'WARN Closed all connections to recover from "Error: Too much memory in use"',
  ]);
});
