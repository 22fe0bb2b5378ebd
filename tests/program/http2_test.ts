// HTTP/2, which Deno.serve accepts without an upgrade, by curl and as raw frames.

import { assert, assertEquals } from "@std/assert";
import {
  type Fields,
  flood,
  Http2Connection,
  NO_WINDOW,
  request,
  sendUnread,
} from "./http2.ts";
import { output } from "../helpers/process.ts";
import { missingProc, residentMemory } from "../helpers/resources.ts";
import { Program } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { WITH_OPEN_FILES } from "./open_files.ts";
import { within } from "../helpers/wait.ts";

const OMIT = undefined;
const CONNECT = { ":method": "CONNECT", ":scheme": OMIT, ":path": OMIT };

/** Unusual fields of a request, what is logged, and the status. */
const REQUESTS: [fields: Fields, logged: string, status: number][] = [
  [{ ":authority": OMIT }, "GET /datasensor", 200],
  [{ ":path": "/datasensor?x=1#y" }, "GET /datasensor?x=1", 200],
  [{ ":path": "//x/datasensor" }, "GET //x/datasensor", 404],
  [{ ":path": "?x" }, "GET /?x", 404],
  [{ ":path": "*", ":method": "OPTIONS" }, "OPTIONS /*", 404],
  [{ ":path": "*" }, "GET /", 404],
  [CONNECT, "CONNECT /", 404],
  [{ ":authority": OMIT, host: "a/datasensor?" }, "GET -", 400],
  [{ ":path": "/datasensor?/", host: "b" }, "GET /datasensor?/", 200],
];

Deno.test("the program answers and logs unusual HTTP/2 requests like HTTP/1.1 requests", async () => {
  await using program = await Program.start();
  for (const [index, [fields]] of REQUESTS.entries()) {
    using connection = await Http2Connection.open(program.port);
    await connection.send(request(1, fields));
    await program.waitForLines(index + 1);
  }
  assertEquals(program.messages, []);
  assertEquals(
    program.requests.map(({ request, status }) => `${request} ${status}`),
    REQUESTS.map(([, logged, status]) => `${logged} ${status}`),
  );
});

Deno.test(
  skipIf(
    missing("curl"),
    "the program answers HEAD over HTTP/2 with the status and the length of GET, and without a body",
  ),
  async () => {
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
  },
);

Deno.test(
  skipIf(
    missingProc,
    "the program closes all connections when they take too much memory, and recovers",
  ),
  async () => {
    await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
    const attack = new AbortController();
    const flooding = flood(program.port, 3, attack.signal);
    await within(flooding, () => "closed connections")
      .finally(() => attack.abort());
    await program.waitForAnswer();
    const peak = await residentMemory(program.pid, "VmHWM");
    assert(peak <= 512, `It took ${peak} MB`);
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.messages, [ // once, although it recovered several times
      'WARN Closed all connections to recover from "Too much memory in use"',
    ]);
  },
);

Deno.test(
  skipIf(
    missingProc,
    "the program recovers, twice, from many requests whose answers are never read",
  ),
  async () => {
    const env = {
      DENO_USR2_MEMORY_TRIM: "1",
      MALLOC_TRIM_THRESHOLD_: "131072",
    };
    const options = { wrap: WITH_OPEN_FILES, env };
    await using program = await Program.start([], options);
    for (let attack = 0; attack < 2; attack++) {
      await sendUnread(program.port);
      await program.waitForAnswer();
    }
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.messages, [
      'WARN Closed all connections to recover from "Too much memory in use"',
    ]);
  },
);

Deno.test("the program keeps a long reading once, however many responses are never read", async () => {
  await using program = await Program.start(["--stdin"], { hasInput: true });
  const reading = "x".repeat(60_000);
  await program.write(`${reading}\n`);
  await program.waitForAnswer(`"${reading}"`);
  const before = program.lines.length;
  using held = new DisposableStack();
  for (let count = 0; count < 20; count++) {
    const opening = Http2Connection.open(program.port, NO_WINDOW);
    const connection = held.use(await opening);
    const requests = Array.from({ length: 200 }, (_, i) => request(2 * i + 1));
    await connection.send(...requests);
  }
  await program.waitForLines(before + 4000);
  const memory = await residentMemory(program.pid, "VmHWM");
  assert(memory < 144, `It took ${memory} MB`); // copies would take 240 MB more
  await program.stop();
  assertEquals(program.messages, []);
});
