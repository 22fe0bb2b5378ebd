// The limit of open files, reached: connections that nobody closes.

import { assertEquals } from "@std/assert";
import { exchange, send } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { GET, HALF_BODY, HALF_HEADER, LAST_GET } from "../helpers/requests.ts";
import { delay } from "../helpers/wait.ts";

/** How many files the program may have open. */
const LIMIT = 128;

const FLOODS = {
  "are idle": "",
  "stop within a header": HALF_HEADER,
  "are kept alive": GET,
  "stop within a body": HALF_BODY,
};

function start(...flags: string[]): Promise<Program> {
  const wrap = ["sh", "-c", `ulimit -n ${LIMIT}; exec "$@"`, "sh"];
  return Program.start([], { wrap, flags });
}

/** The warning that it logs, once for failures that follow each other. */
const WARNING = "WARN Closed all connections to recover from " +
  '"Http: Error: Too many open files (os error 24)"';

/** Opens a connection that stops within a request. */
async function open(port: number, request: string): Promise<Deno.Conn> {
  const connection = await Deno.connect({ port });
  try {
    await send(connection, new TextEncoder().encode(request));
  } catch {
    // The server has closed it
  }
  return connection;
}

/** Opens more connections than it may have, none of which is closed. */
async function hold(program: Program, request: string) {
  const held = new DisposableStack();
  for (let count = 0; count < LIMIT + 72;) {
    await program.waitFor(() =>
      open(program.port, request).then((connection) => {
        held.use(connection);
        count++;
        return true;
      }, () => false) // refused, while it does not listen
    );
  }
  return held;
}

/** Asks over new connections until there is an answer. */
async function ask(program: Program): Promise<void> {
  await program.waitFor(async () => {
    try {
      const response = await exchange(program.port, LAST_GET);
      return response.endsWith('\r\n\r\n"Sensor data"');
    } catch {
      return false; // refused or reset
    }
  });
}

for (const [kind, request] of Object.entries(FLOODS)) {
  Deno.test(`the program answers while clients hold connections that ${kind}, again and again`, async () => {
    await using program = await start();
    using held = new DisposableStack();
    for (let times = 0; times < 2; times++) {
      held.use(await hold(program, request));
      await program.waitFor(() => program.stdout.includes("WARN"));
      await ask(program);
    }
    held.dispose(); // or it would wait for the broken off requests
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stdout.match(/WARN.*/g), [WARNING]);
    assertEquals(program.stderr, "");
  });
}

Deno.test("the program answers while clients open connections as fast as they can", async () => {
  await using program = await start();
  const stop = new AbortController();
  const floods = Object.values(FLOODS).map(async (request) => {
    const held: Deno.Conn[] = [];
    while (!stop.signal.aborted) {
      try {
        held.push(await open(program.port, request));
      } catch {
        await delay(1); // refused
      }
      // The oldest are long closed by the server
      if (held.length > LIMIT) held.shift()?.close();
    }
    for (const connection of held) connection.close();
  });
  try {
    await program.waitFor(() => program.stdout.includes("WARN"));
    for (let asked = 0; asked < 20; asked++) await ask(program);
  } finally {
    stop.abort();
    await Promise.all(floods);
  }
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stdout.match(/WARN.*/g), [WARNING]);
  assertEquals(program.stderr, "");
});

/** Makes the program lose its port for half a second when it listens again. */
const LOSE_PORT = `
  const { serve } = Deno;
  let calls = 0;
  Deno.serve = ({ port, ...options }) => {
    if (++calls === 2) {
      const other = Deno.listen({ port });
      AbortSignal.timeout(500).onabort = () => other.close();
    }
    return serve({ port, ...options });
  };`;

Deno.test("the program logs why it cannot listen again, and when it can", async () => {
  const code = encodeURIComponent(LOSE_PORT);
  await using program = await start(`--preload=data:text/javascript,${code}`);
  using held = await hold(program, "");
  await ask(program);
  held.dispose();
  await program.stop();
  assertEquals(
    program.stdout.match(/WARN.*/g)?.map((line) =>
      line.replace(/\d+\.\d s/, "N s")
    ),
    [
      WARNING,
      `WARN Cannot listen on "0.0.0.0", port ${program.port}: another program uses the port`,
      "WARN Listening again after N s",
    ],
  );
});
