// The page's commands for curl and wget, and their exit codes.

import { assertEquals } from "@std/assert";
import { fill } from "./examples.ts";
import { readersPage } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

/** Each client, and its exit codes. */
const CLIENTS = {
  curl: { stale: 22, down: 7, silent: 28 },
  wget: { stale: 8, down: 4, silent: 4 },
};

for (const [client, codes] of Object.entries(CLIENTS)) {
  Deno.test(
    `the page's ${client} command prints the reading, and fails without a current one`,
    needs({ commands: [client] }),
    async () => {
      const run = async (host: string) => {
        const line = readersPage.block("wget ").split("\n")
          .find((it) => it.startsWith(client))!;
        const command = fill(line, { "BOARD:5000": host });
        const { code, stdout } = await output("sh", ["-c", command]);
        return [code, stdout];
      };
      await using program = await Program.start(["--stdin"], {
        hasInput: true,
      });
      const host = `127.0.0.1:${program.port}`;
      assertEquals(await run(host), [codes.stale, ""]);
      await program.write("21.5\n");
      await program.waitForAnswer('"21.5"');
      assertEquals(await run(host), [0, '"21.5"']);
      await program.stop();
      assertEquals(await run(host), [codes.down, ""]);
      using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const never = `127.0.0.1:${silent.addr.port}`;
      assertEquals(await run(never), [codes.silent, ""]);
    },
  );
}
