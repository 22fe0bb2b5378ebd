// The console: whether it is slow, closed or a full disk, the program keeps
// answering, and counts the lines that it drops.

import { assert, assertEquals } from "@std/assert";
import { CAPACITY_BYTES } from "../../src/log/line_writer.ts";
import { needs, notLinux } from "../helpers/machine.ts";
import { freePort, getMany } from "../helpers/network.ts";
import { nonBlocking, Program, programCommand } from "../helpers/program.ts";

/** Returns a target whose line in the access log is almost 1 KiB long. */
const longTarget = (number: number) => `/${number}/${"x".repeat(900)}`;

Deno.test("the program answers while nobody reads its console, and counts dropped lines", async () => {
  await using program = await Program.start();
  program.readDelayMs = Infinity;
  const count = 2.5 * CAPACITY_BYTES / 1024; // more than pipe and buffer hold
  await getMany(program.port, count, longTarget);
  program.readDelayMs = 0;
  await program.waitFor(() =>
    program.lines.at(-1)?.startsWith("WARN") ?? false
  );
  const [, dropped] = program.lines.at(-1)!.match(/too slow: (\d+)/)!;
  assertEquals(program.lines.length - 1 + Number(dropped), count);
  await getMany(program.port, 1);
  await program.waitFor(() =>
    program.requests.at(-1)!.request === "GET /datasensor"
  );
});

Deno.test(
  "the program logs every request to a pipe that is not blocking",
  needs("python3"),
  async () => {
    await using program = await Program.start([], { wrap: nonBlocking(1) });
    program.readDelayMs = Infinity; // until the pipe is full
    await getMany(program.port, 4000, longTarget);
    program.readDelayMs = 0;
    const ids = () => program.requests.map(({ request }) => request);
    await program.waitFor(() => new Set(ids()).size === 4000);
    assertEquals(program.messages, []);
    const repeated = ids().length - 4000;
    assert(repeated < 128, `${repeated} lines are repeated`); // one batch of 64 KiB
  },
);

/** Consoles that cannot be written to, as redirections of bash. */
const FAILING = {
  "a file on a full disk": "/dev/full",
  "a pipe whose reader has exited": ">(true)",
};

for (const [what, redirection] of Object.entries(FAILING)) {
  Deno.test(
    `the program answers while its console is ${what}`,
    needs(notLinux),
    async () => {
      const port = freePort(); // the start report cannot be read
      const run = programCommand(["--port", String(port)]).flat();
      const args = ["-c", `exec "$@" > ${redirection}`, "bash", ...run];
      await using program = new Program("bash", args);
      const respond = () => getMany(port, 1).then(() => true, () => false);
      await program.waitFor(respond);
      await getMany(port, 500);
      assertEquals((await program.stop()).code, 0);
      assertEquals(program.stderr, "");
    },
  );
}
