// The exit codes that the README names, with a command line for each. The unit tests have
// all flags and messages.

import { assertEquals, assertMatch } from "@std/assert";
import { readme } from "../helpers/guide.ts";
import { getMany } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { preload, Program, programCommand } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { onTerminal } from "../helpers/terminal.ts";

const [CLEAN, FAILED, INVALID] = readme
  .match(/code is (\d) after a clean stop, (\d) .* and (\d) after\s+invalid/s)
  .slice(1).map(Number);

Deno.test("the program serves its message, and exits with 0 after SIGTERM", async () => {
  const args = ["--message", "Hello, world", "--no-debug"];
  await using program = await Program.start(args);
  await program.waitForAnswer('"Hello, world"');
  assertEquals((await program.stop()).code, CLEAN);
  assertMatch(program.stdout, /^ \* Debug mode: off\n/);
  assertEquals(program.stderr, "");
});

Deno.test("the program exits with 1 and the reason if the port is in use", async () => {
  await using program = await Program.start();
  const port = `${program.port}`;
  const other = await output(...programCommand(["--port", port]));
  assertEquals([other.code, other.stdout], [FAILED, ""]);
  assertMatch(other.stderr, /port \d+: another program uses the port\n.*\n$/);
});

Deno.test(
  skipIf(missing("script"), "the program asks for no permission on a terminal"),
  async () => {
    const set = ["env", "DENO_SERVE_ADDRESS=tcp:192.0.2.7:0"]; // not permitted
    const run = [...set, ...programCommand([]).flat()];
    await using program = new Process(...onTerminal(run));
    assertEquals((await program.waitForEnd()).code, FAILED);
    assertMatch(program.stdout, /^Cannot listen: /m);
  },
);

Deno.test("the program logs every line, then an uncaught error, and exits with 1", async () => {
  const failOnSignal = `Deno.addSignalListener("SIGUSR1", () => {
    setTimeout(() => { throw new TypeError("Unforeseen"); });
  });`;
  await using program = await Program.start(["--stdin"], {
    flags: [preload(failOnSignal)],
    hasInput: true, // a pending read
  });
  await getMany(program.port, 500);
  program.kill("SIGUSR1");
  assertEquals((await program.waitForEnd()).code, FAILED);
  assertEquals(program.requests.length, 500);
  assertMatch(program.stderr, /^TypeError: Unforeseen\n +at /);
});

Deno.test("the program exits with 2 and the reason after invalid flags", async () => {
  const { code, stdout, stderr } = await output(...programCommand(["--foo"]));
  assertEquals([code, stdout], [INVALID, ""]);
  const hint = "Run with --help for the list of flags";
  assertEquals(stderr, `Unknown flag "--foo"\n${hint}\n`);
});

Deno.test("the program exits with 2 with --journal if it may never listen", async () => {
  const env = { DENO_SERVE_ADDRESS: "tcp:192.0.2.7:0" }; // without permission
  const ended = await output(...programCommand(["--journal"]), { env });
  assertEquals(ended.code, INVALID);
  assertMatch(ended.stderr, /^<3>Cannot listen: .*\n<3>.*DENO_SERVE_ADDRESS/m);
});
