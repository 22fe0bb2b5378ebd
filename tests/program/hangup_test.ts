// SIGHUP: a terminal is closed, or a session is lost.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { exchange, send, waitUntilClosed } from "../helpers/network.ts";
import { command, Program } from "../helpers/program.ts";
import { HALF_BODY, LAST_GET } from "../helpers/requests.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

/** How many requests are asked. */
const COUNT = 20;

async function ask(port: number): Promise<void> {
  for (let asked = 0; asked < COUNT; asked++) {
    assertEquals((await exchange(port, LAST_GET)).slice(-13), '"Sensor data"');
  }
}

/** Stops the program again and again, with a client that holds it. */
async function stopAgainAndAgain(
  program: Program,
  first: Deno.Signal,
  pid?: number,
): Promise<void> {
  using connection = await Deno.connect({ port: program.port });
  await send(connection, new TextEncoder().encode(HALF_BODY));
  await program.waitForLines(1);
  await ask(program.port);
  Deno.kill(pid ?? program.pid, first);
  assertEquals((await program.insist("SIGHUP", pid)).code, 0);
  assertEquals(program.lines.length, 1 + COUNT);
}

testUnless(
  lacksTerminal,
  "the program stops in order on SIGHUP, however often, while its standard output is a terminal",
  async () => {
    const run = command(["--port", "0"]).flat();
    const redirection = "</dev/null 2>/dev/null";
    await using program = await Terminal.run(run, redirection);
    await program.listening();
    await stopAgainAndAgain(program, "SIGHUP", program.inner);
  },
);

Deno.test("the program does not end on SIGHUP while it stops", async () => {
  await using program = await Program.start();
  await stopAgainAndAgain(program, "SIGTERM");
});

Deno.test("the program goes on after SIGHUP without a terminal", async () => {
  await using program = await Program.start();
  for (let sent = 0; sent < COUNT; sent++) {
    program.kill("SIGHUP");
    await ask(program.port);
  }
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.lines.length, COUNT ** 2);
});

/** The program on a terminal, which it does not write its lines to. */
async function startWithLog(
  wrap: string[],
  redirection: string,
  test: (terminal: Terminal, port: number) => Promise<number>,
): Promise<void> {
  using folder = await Folder.create();
  const log = `${folder.path}/log`;
  const run = [...wrap, ...command(["--port", "0"]).flat()];
  await using terminal = await Terminal.run(run, `>'${log}' ${redirection}`);
  const asked = await test(terminal, await terminal.portIn(log));
  // Its end is nobody's to wait for
  const logged = async () => (await Deno.readTextFile(log)).match(/ 200 -\n/g);
  await waitFor(async () => (await logged())?.length === asked);
}

for (
  const [stream, redirection] of [["input", "2>&1"], ["error", "</dev/null"]]
) {
  testUnless(
    lacksTerminal,
    `the program writes all lines when the terminal of its standard ${stream} is closed`,
    () =>
      startWithLog([], redirection!, async (terminal, port) => {
        await ask(port);
        terminal.close();
        await waitUntilClosed(port);
        return COUNT;
      }),
  );
}

testUnless(
  lacksTerminal ?? await lacksCommand("nohup"),
  "nohup keeps the program running when its terminal is closed",
  () =>
    startWithLog(["nohup"], "2>&1", async (terminal, port) => {
      await ask(port);
      terminal.close();
      await terminal.ended;
      await ask(port);
      Deno.kill(terminal.inner, "SIGTERM");
      return 2 * COUNT;
    }),
);
