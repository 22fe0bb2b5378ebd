// The page's commands for curl and wget, and their exit codes.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { skipIf } from "../helpers/skip.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";

/** Each client, and its exit codes. */
const CLIENTS = {
  curl: { stale: 22, down: 7 },
  wget: { stale: 8, down: 4 },
};

for (const [client, { stale, down }] of Object.entries(CLIENTS)) {
  Deno.test(
    skipIf(
      missingMachine(client),
      `the page's ${client} command prints the reading, and fails without a current one`,
    ),
    async () => {
      const command = readersPage.block("wget ").split("\n")
        .find((line) => line.startsWith(client))!;
      await using machine = await Machine.start();
      {
        await using service = machine.startService("--stdin");
        await machine.typeUntil(command, RegExp(`\\[${stale}\\]$`));
        await service.write("21.5\n");
        await machine.typeUntil(command, /^"21.5"\[0\]$/);
      }
      const { code, stdout } = await machine.type(command);
      assertEquals([code, stdout], [down, ""]);
    },
  );
}
