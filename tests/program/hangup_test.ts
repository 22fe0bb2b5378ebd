// SIGHUP: a terminal was closed, or a session lost.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { exchange, send, waitUntilClosed } from "../helpers/network.ts";
import { command, Program } from "../helpers/program.ts";
import { HALF_BODY, LAST_GET } from "../helpers/requests.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

/** How many requests are sent together. */
const COUNT = 20;

async function request(port: number): Promise<void> {
  for (let sent = 0; sent < COUNT; sent++) {
    assertEquals((await exchange(port, LAST_GET)).slice(-13), '"Sensor data"');
  }
}

/** Stops the program, then sends SIGHUP until a client's time-out is over. */
async function stopAndHangUp(
  program: Program,
  first: Deno.Signal,
  pid = program.pid,
): Promise<void> {
  using connection = await Deno.connect({ port: program.port });
  await send(connection, new TextEncoder().encode(HALF_BODY));
  await program.waitForLines(1);
  await request(program.port);
  Deno.kill(pid, first);
  assertEquals((await program.insist("SIGHUP", pid)).code, 0);
  assertEquals(program.lines.length, 1 + COUNT);
}

testUnless(
  lacksTerminal,
  "the program shuts down cleanly on SIGHUP if its standard output is a terminal",
  async () => {
    const run = command(["--port", "0"]).flat();
    const redirection = "</dev/null 2>/dev/null";
    await using program = await Terminal.run(run, redirection);
    await program.listening();
    await stopAndHangUp(program, "SIGHUP", program.inner);
  },
);

Deno.test("the program ignores SIGHUP without a terminal", async () => {
  await using program = await Program.start();
  for (let sent = 0; sent < 3; sent++) {
    program.kill("SIGHUP");
    await request(program.port);
  }
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.lines.length, 3 * COUNT);
});

/** Starts the program on a terminal with its standard output in a file. */
async function logToFile(
  wrap: string[],
  redirection: string,
  test: (terminal: Terminal, port: number) => Promise<number>,
): Promise<void> {
  using folder = await Folder.create();
  const log = `${folder.path}/log`;
  const run = [...wrap, ...command(["--port", "0"]).flat()];
  await using terminal = await Terminal.run(run, `>'${log}' ${redirection}`);
  const sent = await test(terminal, await terminal.portIn(log));
  // Nobody can wait for its exit, as its parent is gone
  const lines = async () => (await Deno.readTextFile(log)).match(/ 200 -\n/g);
  await waitFor(async () => (await lines())?.length === sent);
}

const STREAMS = { input: "2>&1", error: "</dev/null" };

for (const [stream, redirection] of Object.entries(STREAMS)) {
  testUnless(
    lacksTerminal,
    `the program shuts down cleanly when the terminal of its standard ${stream} is closed`,
    () =>
      logToFile([], redirection, async (terminal, port) => {
        await request(port);
        terminal.close();
        await waitUntilClosed(port);
        return COUNT;
      }),
  );
}

testUnless(
  lacksTerminal ?? await lacksCommand("nohup"),
  "the program keeps running under nohup when its terminal is closed",
  () =>
    logToFile(["nohup"], "2>&1", async (terminal, port) => {
      await request(port);
      terminal.close();
      await terminal.ended;
      await request(port);
      Deno.kill(terminal.inner, "SIGTERM");
      return 2 * COUNT;
    }),
);
