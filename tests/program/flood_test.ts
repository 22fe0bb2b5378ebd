// Clients hold connections until the program reaches its limit of open files.

import { assertEquals } from "@std/assert";
import { GET, HALF_BODY, HALF_HEADER, open } from "../helpers/network.ts";
import { preload, Program } from "../helpers/program.ts";

const LIMIT = 128; // open files of the program

const FLOODS = {
  "idle connections": "",
  "half headers": HALF_HEADER,
  "connections kept alive": GET,
  "half bodies": HALF_BODY,
};

function start(...flags: string[]): Promise<Program> {
  const wrap = ["sh", "-c", `ulimit -n ${LIMIT}; exec "$@"`, "sh"];
  return Program.start([], { wrap, flags });
}

/** The warnings, logged once for consecutive failures. */
const WARNINGS = [
  'WARN Closed all connections to recover from "Http: Error: Too many open files (os error 24)"',
  "WARN Connections are no longer kept alive",
];

/** Opens more connections than the program can accept, and holds them. */
async function hold(program: Program, request: string) {
  const held = new DisposableStack();
  const add = async () => {
    held.use(await open(program.port, request));
    return true;
  };
  for (let count = 0; count < LIMIT + 72; count++) {
    // The program refuses connections until it listens again
    await program.waitFor(() => add().catch(() => false));
  }
  return held;
}

/** Stops the program, which must have logged the warnings only once. */
async function stop(program: Program): Promise<void> {
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stdout.match(/WARN.*/g), WARNINGS);
  assertEquals(program.stderr, "");
}

for (const [kind, request] of Object.entries(FLOODS)) {
  Deno.test(`the program answers repeatedly while clients hold ${kind}`, async () => {
    await using program = await start();
    using held = new DisposableStack();
    for (let times = 0; times < 2; times++) {
      held.use(await hold(program, request));
      await program.waitFor(() => program.stdout.includes("WARN"));
      await program.waitForAnswer();
    }
    held.dispose(); // otherwise the program would wait for the half requests
    await stop(program);
  });
}

Deno.test("the program answers while clients open connections as fast as they can", async () => {
  await using program = await start();
  let isOver = false;
  const floods = Object.values(FLOODS).map(async (request) => {
    while (!isOver) (await hold(program, request)).dispose();
  });
  try {
    await program.waitFor(() => program.stdout.includes("WARN"));
    for (let count = 0; count < 20; count++) await program.waitForAnswer();
  } finally {
    isOver = true;
    await Promise.all(floods);
  }
  await stop(program);
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
  await using program = await start(preload(LOSE_PORT));
  using held = await hold(program, "");
  await program.waitForAnswer();
  held.dispose();
  await program.stop();
  const log = program.stdout.replace(/\d+\.\d s/, "N s");
  assertEquals(log.match(/WARN.*/g), [
    ...WARNINGS,
    `WARN Cannot listen on "0.0.0.0", port ${program.port}: another program uses the port`,
    "WARN Listening again after N s",
  ]);
});
