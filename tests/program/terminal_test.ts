// How the program behaves on a terminal, and when its terminal is closed.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import {
  getMany,
  HALF_BODY,
  open,
  waitUntilClosed,
} from "../helpers/network.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

const missing = await missingTerminal();
const RUN = programCommand(["--port", "0"]).flat();
const REQUESTS = 20; // so few that their lines are still buffered

testUnless(
  missing,
  "`deno task start` shuts down cleanly after Ctrl+C, although it arrives twice",
  async () => {
    const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
    await using program = new Program(...onTerminal(run));
    await program.waitUntilListening();
    await getMany(program.port, REQUESTS);
    await program.write("\x03");
    assertEquals((await program.waitForEnd()).code, 0);
    assertEquals(program.lines.length, REQUESTS);
  },
);

testUnless(
  missing,
  "the program shuts down cleanly on SIGHUP if its standard output is a terminal",
  async () => {
    const onlyOutput = onTerminal(RUN, "</dev/null 2>/dev/null");
    await using program = new Program(...onlyOutput);
    await program.waitUntilListening();
    using _halfBody = await open(program.port, HALF_BODY);
    await program.waitForLines(1);
    await getMany(program.port, REQUESTS);
    // Repeated while the program waits for the body
    const pid = parseInt(program.stdout); // which the terminal shows first
    const { code } = await program.signalUntilExit("SIGHUP", pid);
    assertEquals(code, 0);
    assertEquals(program.lines.length, 1 + REQUESTS);
  },
);

Deno.test("the program ignores SIGHUP without a terminal", async () => {
  await using program = await Program.start();
  for (let sent = 0; sent < 3; sent++) {
    program.kill("SIGHUP");
    await getMany(program.port, REQUESTS);
  }
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.lines.length, 3 * REQUESTS);
});

const STREAMS = { input: "2>&1", error: "</dev/null" };

for (const [stream, redirection] of Object.entries(STREAMS)) {
  testUnless(
    missing,
    `the program shuts down cleanly when the terminal of its standard ${stream} is closed`,
    async () => {
      using folder = await Folder.create();
      const log = `${folder.path}/log`;
      const command = onTerminal(RUN, `>'${log}' ${redirection}`);
      await using program = new Program(...command);
      const port = await program.portIn(log);
      await getMany(port, REQUESTS);
      program.kill("SIGKILL");
      await waitUntilClosed(port);
      // Without its parent, its end cannot be awaited
      const lines = async () => (await Deno.readTextFile(log)).match(/ 200 -/g);
      await waitFor(async () => (await lines())?.length === REQUESTS);
    },
  );
}
