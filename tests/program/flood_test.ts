// Clients hold connections until the program reaches its limit of open files.

import { assertEquals } from "@std/assert";
import { GET, HALF_BODY, HALF_HEADER, open } from "../helpers/network.ts";
import { OPEN_FILES, Program, WITH_OPEN_FILES } from "../helpers/program.ts";

const LIMITED = { wrap: WITH_OPEN_FILES };

const FLOODS = {
  "idle connections": "",
  "half headers": HALF_HEADER,
  "connections kept alive": GET,
  "half bodies": HALF_BODY,
};

/** Opens more connections than the program can accept, and holds them. */
async function hold(program: Program, request: string) {
  const held = new DisposableStack();
  const add = async () => {
    held.use(await open(program.port, request));
    return true;
  };
  for (let count = 0; count < OPEN_FILES + 72; count++) {
    // The program refuses connections until it listens again
    await program.waitFor(() => add().catch(() => false));
  }
  return held;
}

/** Stops the program, which must have logged each warning only once. */
async function stop(program: Program): Promise<void> {
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stdout.match(/WARN.*/g), [
    'WARN Closed all connections to recover from "Http: Error: Too many open files (os error 24)"',
    "WARN Connections are no longer kept alive",
  ]);
  assertEquals(program.stderr, "");
}

for (const [kind, request] of Object.entries(FLOODS)) {
  Deno.test(`the program answers repeatedly while clients hold ${kind}`, async () => {
    await using program = await Program.start([], LIMITED);
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
  await using program = await Program.start([], LIMITED);
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
