// Ctrl+C, SIGTERM and a closed terminal: the program completes its log and stops, whatever
// its clients and its console do.

import { assert, assertEquals } from "@std/assert";
import { parseAccessLine } from "../helpers/access_line.ts";
import { Folder } from "../helpers/files.ts";
import {
  exchange,
  GET,
  getMany,
  HALF_BODY,
  HALF_HEADER,
  open,
} from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { preload, Program, programCommand } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { onTerminal } from "../helpers/terminal.ts";
import { loggedPort } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

/** Makes the program wait forever for requests and its console, not 1.8 s and 0.9 s. */
const WAITING_FOREVER = {
  flags: [preload(`const timeout = AbortSignal.timeout.bind(AbortSignal);
    const never = new AbortController().signal;
    AbortSignal.timeout = (ms) => ms < 500 ? timeout(ms) : never;`)],
};

/** Fills the console without reading it, and returns the number of lines. */
async function fillConsole(program: Program): Promise<number> {
  program.pauseReading();
  const count = 1000; // of 1 KB: more than a pipe holds, less than the buffer
  await getMany(program.port, count, () => `/?${"x".repeat(900)}`);
  return count;
}

/** Waits until nobody accepts connections at a port. */
async function waitUntilClosed(port: number): Promise<void> {
  const connect = () => exchange(port, "", () => true);
  const isClosed = () => connect().then(() => false, () => true);
  await waitFor(`port ${port} to refuse connections`, isClosed);
}

Deno.test("the program waits for its log, but not for clients without a whole header, when it stops", async () => {
  await using program = await Program.start([], WAITING_FOREVER);
  const { port } = program;
  using _idle = await open(port, "");
  using _keptAlive = await open(port, GET);
  using _halfHeader = await open(port, HALF_HEADER);
  await program.waitForLines(1);
  const count = await fillConsole(program);
  program.kill("SIGTERM");
  await waitUntilClosed(port);
  program.resumeReading();
  assertEquals((await program.waitForEnd()).code, 0);
  assertEquals(program.lines.length, 1 + count);
});

Deno.test("the program stops although a request never ends, and nobody reads its console", async () => {
  await using program = await Program.start();
  using _halfBody = await open(program.port, HALF_BODY);
  await program.waitForLines(1);
  await fillConsole(program);
  assertEquals((await program.stop()).code, 0);
});

const TERMINAL = missing("script");
const REQUESTS = 20; // so few that their lines are still buffered

Deno.test(
  skipIf(
    TERMINAL,
    "`deno task start` completes its log after Ctrl+C, although it arrives twice",
  ),
  async () => {
    const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
    await using program = new Program(...onTerminal(run));
    await program.waitUntilListening();
    await getMany(program.port, REQUESTS);
    await program.write("\x03");
    const { code } = await program.waitForEnd();
    assert([0, 130].includes(code), `${code}`); // 130: a fault of deno task
    assertEquals(program.lines.length, REQUESTS);
  },
);

Deno.test(
  skipIf(TERMINAL, "the program completes its log when its terminal is closed"),
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    const run = programCommand(["--port", "0"]).flat();
    await using program = new Process(...onTerminal(run, `>'${log}' 2>&1`));
    const port = await loggedPort(log);
    await getMany(port, REQUESTS);
    program.kill("SIGKILL"); // the terminal, which is the program's parent
    await waitUntilClosed(port);
    // Without its parent, its end cannot be awaited
    const isAnswer = (line: string) => parseAccessLine(line)?.status === "200";
    await waitFor(
      `${REQUESTS} lines in the log`,
      () => Deno.readTextFile(log),
      (text) => text.split("\n").filter(isAnswer).length === REQUESTS,
    );
  },
);
