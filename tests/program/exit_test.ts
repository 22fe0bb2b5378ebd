// How the program ends: exit codes, signals, terminals, and its log.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import {
  exchange,
  GET,
  getMany,
  HALF_BODY,
  HALF_HEADER,
  open,
} from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import {
  parseAccessLine,
  preload,
  Program,
  programCommand,
} from "../helpers/program.ts";
import { testWith } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

/** An address that the program is not permitted to listen on. */
const DENO_SERVE_ADDRESS = "tcp:192.0.2.7:0";

Deno.test("the program exits with 2 and the reason at an address without permission under systemd", async () => {
  const run = programCommand(["--journal"]);
  const options = { env: { DENO_SERVE_ADDRESS } };
  const { code, stdout, stderr } = await output(...run, options);
  assertEquals([code, stdout], [2, ""]);
  assertMatch(stderr, /^<3>Cannot listen: .*\n<3>.*DENO_SERVE_ADDRESS.*\n$/m);
});

for (const statement of ["setTimeout(fail)", "Promise.reject().catch(fail)"]) {
  Deno.test(`the program logs every line, then an uncaught error of ${statement}, and exits with 1`, async () => {
    const failOnSignal = `
      const fail = () => { throw new TypeError("Unforeseen"); };
      Deno.addSignalListener("SIGUSR1", () => { ${statement}; });`;
    const flags = [preload(failOnSignal)];
    await using program = await Program.start(["--stdin"], { flags }); // a pending read
    await getMany(program.port, 500);
    program.kill("SIGUSR1");
    assertEquals((await program.waitForEnd()).code, 1);
    assertEquals(program.requests.length, 500);
    assertMatch(program.stderr, /^TypeError: Unforeseen\n +at /);
  });
}

/** Makes the program wait forever for requests and its console, not 1.8 s and 0.9 s. */
const WAITING_FOREVER = {
  flags: [preload(`const timeout = AbortSignal.timeout.bind(AbortSignal);
    const never = new AbortController().signal;
    AbortSignal.timeout = (ms) => ms <= 500 ? timeout(ms) : never;`)],
};

/** Fills the console without reading it, and returns the number of lines. */
async function fillConsole(program: Program): Promise<number> {
  program.isPaused = true;
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
  program.isPaused = false;
  assertEquals((await program.waitForEnd()).code, 0);
  assertEquals(program.lines.length, 1 + count);
});

const SIGNALS = [["SIGTERM", "SIGINT"], ["SIGINT", "SIGTERM"]] as const;

for (const [first, second] of SIGNALS) {
  Deno.test(`the program runs on after SIGHUP without a terminal, stops after ${first}, and ${second} kills it from 0.5 s later`, async () => {
    await using program = await Program.start([], WAITING_FOREVER);
    program.kill("SIGHUP");
    await getMany(program.port, 50);
    using _halfBody = await open(program.port, HALF_BODY); // for which it waits
    await program.waitForLines(51);
    const begin = performance.now();
    program.kill(first);
    const kill = () => Promise.try(() => program.kill(second)).catch(() => {});
    const timer = setInterval(kill, 20);
    const { signal } = await program.waitForEnd()
      .finally(() => clearInterval(timer));
    const ms = performance.now() - begin;
    assertEquals(signal, second);
    // The program waits for 0.5 s, which may be late: ten times as long on a busy machine
    assert(450 < ms && ms < 5000, `It took ${ms} ms`);
  });
}

const test = testWith("script");

/**
 * Returns what runs a command on a terminal of its own, with redirections of the shell. Writing
 * to it presses keys, and killing it closes the terminal.
 */
function onTerminal(
  command: string[],
  redirection = "",
): ConstructorParameters<typeof Process> {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  // Lines end with LF and no key is echoed, as without a terminal
  const run = `stty -echo -onlcr; exec ${words.join(" ")} ${redirection}`;
  const options = { env: { SHELL: "/bin/sh" } };
  return ["script", ["-qec", run, "/dev/null"], options];
}

const REQUESTS = 20; // so few that their lines are still buffered

test("`deno task start` completes its log after Ctrl+C, although it arrives twice", async () => {
  const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
  await using program = new Program(...onTerminal(run));
  await program.waitUntilListening();
  await getMany(program.port, REQUESTS);
  await program.write("\x03");
  const { code } = await program.waitForEnd();
  assert([0, 130].includes(code), `${code}`); // 130: a bug of deno task
  assertEquals(program.lines.length, REQUESTS);
});

test("the program asks for no permission on a terminal", async () => {
  const run = ["env", `DENO_SERVE_ADDRESS=${DENO_SERVE_ADDRESS}`];
  await using program = new Process(
    ...onTerminal([...run, ...programCommand([]).flat()]),
  );
  assertEquals((await program.waitForEnd()).code, 1);
  assertMatch(program.stdout, /^Cannot listen: /m);
});

for (const others of ["2>/dev/null", "</dev/null"]) {
  test(`the program stops when its terminal is closed, with ${others}, and completes its log elsewhere`, async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    const run = programCommand(["--port", "0"]).flat();
    const streams = `>${log} ${others}`; // only its input or its errors are the terminal
    await using terminal = new Process(...onTerminal(run, streams));
    const read = () => Deno.readTextFile(log).catch(() => "");
    const url = /http:\/\/[\d.]+:(\d+)\//;
    const text = await waitFor("an address", read, (text) => url.test(text));
    const port = Number(text.match(url)![1]);
    await getMany(port, REQUESTS);
    terminal.kill("SIGKILL"); // which is the program's parent
    await waitUntilClosed(port);
    // Without its parent, its end cannot be awaited
    const isWhole = (text: string) =>
      text.split("\n").filter(parseAccessLine).length === REQUESTS;
    await waitFor("the whole log", read, isWhole);
  });
}
