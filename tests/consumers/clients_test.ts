// The guide's commands for curl and wget, and their exit codes.

import { assertEquals, assertMatch } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { fill } from "./examples.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { type Output, output } from "../helpers/process.ts";

/** What a client does when there is no reading. */
interface Client {
  name: string;
  codes: { stale: number; down: number; silent: number };
  stderr: RegExp; // what it prints for a 503
}

const CLIENTS: Client[] = [
  {
    name: "curl",
    codes: { stale: 22, down: 7, silent: 28 },
    stderr: /^curl: \(22\) The requested URL returned error: 503\n$/,
  },
  {
    name: "wget",
    codes: { stale: 8, down: 4, silent: 4 },
    stderr: /^$/,
  },
];

/** Runs the guide's command for a client, with nothing on standard input. */
async function run(client: string, host: string): Promise<Output> {
  const commands = fill(consumersGuide.block("wget "), { "BOARD:5000": host });
  const command = commands.split("\n").find((line) =>
    line.startsWith(`${client} `)
  )!;
  return await output("sh", ["-c", command]);
}

for (const { name, codes, stderr } of CLIENTS) {
  Deno.test(
    `the guide's ${name} command prints the reading, and fails without a current one`,
    needs({ commands: [name] }),
    async () => {
      await using board = await SimulatedBoard.start();
      await board.say("21.5");
      const live = await run(name, board.host);
      assertEquals([live.code, live.stdout, live.stderr], [0, '"21.5"', ""]);
      await board.becomeStale();
      const stale = await run(name, board.host);
      assertEquals([stale.code, stale.stdout], [codes.stale, ""]);
      assertMatch(stale.stderr, stderr);
      await board.goDown();
      const down = await run(name, board.host);
      assertEquals([down.code, down.stdout], [codes.down, ""]);
    },
  );
}

Deno.test(
  "the guide's commands give up on a board that never answers",
  needs({ commands: CLIENTS.map(({ name }) => name) }),
  async () => {
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const host = `127.0.0.1:${silent.addr.port}`;
    await Promise.all(CLIENTS.map(async ({ name, codes }) => {
      assertEquals((await run(name, host)).code, codes.silent, name);
    }));
  },
);
