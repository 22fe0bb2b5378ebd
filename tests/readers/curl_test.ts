// The page's command for curl, and its exit codes.

import { assertEquals } from "@std/assert";
import { readersPage } from "../helpers/guide.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";

Deno.test(
  skipIf(
    missingMachine(),
    "the page's curl command prints the reading, and fails without a current one",
  ),
  async () => {
    const command = readersPage.block(
      "curl -fsS -m 5 http://BOARD:5000/datasensor\n",
    );
    await using machine = await Machine.start();
    {
      await using service = machine.startService("--stdin");
      await machine.typeUntil(command, /\[22\]$/);
      await service.write("21.5\n");
      await machine.typeUntil(command, /^"21.5"\[0\]$/);
    }
    const { code, stdout } = await machine.type(command);
    assertEquals([code, stdout], [7, ""]);
  },
);
