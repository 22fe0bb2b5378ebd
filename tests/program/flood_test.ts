// Clients hold connections until the program reaches its limit of open files.

import { assertEquals } from "@std/assert";
import { GET, HALF_BODY, HALF_HEADER, open } from "../helpers/network.ts";
import { OPEN_FILES, WITH_OPEN_FILES } from "../helpers/open_files.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

/** What clients send before they only hold their connections. */
const REQUESTS = ["", HALF_HEADER, GET, HALF_BODY];

Deno.test("the program answers repeatedly while clients hold idle connections, kept alive ones, half headers and half bodies", async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  using held = new DisposableStack();
  const hold = async (request: string) => {
    held.use(await open(program.port, request));
    return true;
  };
  for (let times = 0; times < 2; times++) {
    // More than it can accept. It refuses connections until it listens again
    for (let count = 0; count < OPEN_FILES + 72; count++) {
      const request = REQUESTS[count % REQUESTS.length]!;
      const accept = () => hold(request).catch(() => false);
      await waitFor(`connection ${count} to be accepted`, accept);
    }
    await program.waitForMatch(/WARN/);
    await program.waitForAnswer();
  }
  held.dispose(); // otherwise the program would wait for the half requests
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.messages, [ // each only once
    'WARN Closed all connections to recover from "Http: Error: Too many open files (os error 24)"',
    "WARN Connections are no longer kept alive",
  ]);
  assertEquals(program.stderr, "");
});
