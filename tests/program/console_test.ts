// The console: whether it is slow, closed or a full disk, the program keeps
// answering, and counts the lines that it drops.

import { assert, assertEquals } from "@std/assert";
import { CAPACITY_BYTES } from "../../src/log/line_writer.ts";
import { needs, notLinux } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { waitFor } from "../helpers/wait.ts";
import { getMany } from "../helpers/network.ts";
import { nonBlocking } from "../helpers/console.ts";
import { Program, programCommand } from "../helpers/program.ts";

/** Returns a target whose line in the access log is almost 1 KiB long. */
const longTarget = (number: number) => `/${number}/${"x".repeat(900)}`;

Deno.test(
  "the program answers while nobody reads its console, and counts dropped lines",
  async () => {
    await using program = await Program.start();
    program.pauseReading();
    const count = 2.5 * CAPACITY_BYTES / 1024; // more than pipe and buffer hold
    await getMany(program.port, count, longTarget);
    program.resumeReading();
    const last = () => program.lines.at(-1) ?? "";
    const isCount = (line: string) => line.startsWith("WARN");
    const line = await waitFor("the count as the last line", last, isCount);
    const [, dropped] = line.match(/too slow: (\d+)/)!;
    assertEquals(program.lines.length - 1 + Number(dropped), count);
    await getMany(program.port, 1);
    const request = () => program.requests.at(-1)!.request;
    const isLast = (request: string) => request === "GET /datasensor";
    await waitFor("the last request in the log", request, isLast);
  },
);

Deno.test(
  "the program logs every request to a pipe that is not blocking",
  needs({ commands: ["python3"] }),
  async () => {
    await using program = await Program.start([], { wrap: nonBlocking(1) });
    program.pauseReading(); // until the pipe is full
    await getMany(program.port, 4000, longTarget);
    program.resumeReading();
    const ids = () => program.requests.map(({ request }) => request);
    const count = () => new Set(ids()).size;
    await waitFor("4000 requests in the log", count, (it) => it === 4000);
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
    needs({ missing: [notLinux] }),
    async () => {
      using reserved = new ReservedPort(); // the start report cannot be read
      const port = reserved.number;
      const run = programCommand(["--port", `${port}`]).flat();
      const args = ["-c", `exec "$@" > ${redirection}`, "bash", ...run];
      await using program = new Program("bash", args);
      const respond = () => getMany(port, 1).then(() => true, () => false);
      await waitFor(`an answer at port ${port}`, respond);
      await getMany(port, 500);
      assertEquals((await program.stop()).code, 0);
      assertEquals(program.stderr, "");
    },
  );
}
