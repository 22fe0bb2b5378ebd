// How the program behaves on a terminal, and when its terminal is closed.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import {
  exchange,
  HALF_BODY,
  LAST_GET,
  open,
  waitUntilClosed,
} from "../helpers/network.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { missingTerminal, Terminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

const RUN = programCommand(["--port", "0"]).flat();
const WARNING = "WARN The input has ended: no new readings will arrive";

const COLORS: [does: string, NO_COLOR: string, expected: string][] = [
  ["colors its warnings on a terminal", "", `\x1b[33m${WARNING}\x1b[0m`],
  ["colors nothing if NO_COLOR is set", "1", WARNING],
];

for (const [does, NO_COLOR, expected] of COLORS) {
  testUnless(missingTerminal, `the program ${does}`, async () => {
    const run = [...RUN, "--stdin"];
    await using program = new Terminal(run, "</dev/null", { NO_COLOR });
    assertEquals(await program.waitForLines(1), [expected]);
  });
}

testUnless(
  missingTerminal,
  "the program colors nothing in a file, even if a terminal started it",
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    const run = [...RUN, "--stdin"];
    const redirection = `</dev/null >'${log}'`;
    await using terminal = new Terminal(run, redirection, { NO_COLOR: "" });
    await terminal.portIn(log);
    const warning = async () =>
      (await Deno.readTextFile(log)).match(/.*WARN.*/)?.[0];
    await terminal.waitFor(async () => await warning() !== undefined);
    assertEquals(await warning(), WARNING);
  },
);

const REQUESTS = 20; // so few that their lines are still buffered

async function sendRequests(port: number): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent++) {
    assertEquals((await exchange(port, LAST_GET)).slice(-13), '"Sensor data"');
  }
}

testUnless(
  missingTerminal,
  "`deno task start` shuts down cleanly after Ctrl+C, although it arrives twice",
  async () => {
    const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
    await using program = new Terminal(run);
    await program.waitUntilListening();
    await sendRequests(program.port);
    await program.write("\x03");
    assertEquals((await program.waitForEnd()).code, 0);
    assertEquals(program.lines.length, REQUESTS);
  },
);

testUnless(
  missingTerminal,
  "the program shuts down cleanly on SIGHUP if its standard output is a terminal",
  async () => {
    await using program = new Terminal(RUN, "</dev/null 2>/dev/null");
    await program.waitUntilListening();
    using _halfBody = await open(program.port, HALF_BODY);
    await program.waitForLines(1);
    await sendRequests(program.port);
    // Repeated while the program waits for the body
    const { code } = await program.signalUntilExit("SIGHUP", program.childPid);
    assertEquals(code, 0);
    assertEquals(program.lines.length, 1 + REQUESTS);
  },
);

Deno.test("the program ignores SIGHUP without a terminal", async () => {
  await using program = await Program.start();
  for (let sent = 0; sent < 3; sent++) {
    program.kill("SIGHUP");
    await sendRequests(program.port);
  }
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.lines.length, 3 * REQUESTS);
});

/** Waits for lines, since a program without its parent cannot be awaited. */
async function waitForLines(file: string, count: number): Promise<void> {
  const lines = async () => (await Deno.readTextFile(file)).match(/ 200 -\n/g);
  await waitFor(async () => (await lines())?.length === count);
}

const STREAMS = { input: "2>&1", error: "</dev/null" };

for (const [stream, redirection] of Object.entries(STREAMS)) {
  testUnless(
    missingTerminal,
    `the program shuts down cleanly when the terminal of its standard ${stream} is closed`,
    async () => {
      using folder = await Folder.create();
      const log = `${folder.path}/log`;
      await using terminal = new Terminal(RUN, `>'${log}' ${redirection}`);
      const port = await terminal.portIn(log);
      await sendRequests(port);
      terminal.close();
      await waitUntilClosed(port);
      await waitForLines(log, REQUESTS);
    },
  );
}

testUnless(
  missingTerminal ?? await missingCommand("nohup"),
  "the program keeps running under nohup when its terminal is closed",
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    await using terminal = new Terminal(["nohup", ...RUN], `>'${log}' 2>&1`);
    const port = await terminal.portIn(log);
    await sendRequests(port);
    terminal.close();
    await terminal.ended;
    await sendRequests(port);
    Deno.kill(terminal.childPid, "SIGTERM");
    await waitForLines(log, 2 * REQUESTS);
  },
);
