// What the program does only on a terminal: colours and keys.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { command, Program } from "../helpers/program.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";

/** Starts the program on a terminal of its own. */
function startOnTerminal(args: string[], env?: Record<string, string>) {
  return Terminal.run(command(["--port", "0", ...args]).flat(), "", env);
}

const WARNING = "WARN The input has ended: no new readings will arrive";

for (
  const [does, env, expected] of [
    ["colours its warnings on a terminal", "", `\x1b[33m${WARNING}\x1b[0m`],
    ["colours nothing where NO_COLOR is set", "1", WARNING],
  ] as const
) {
  testUnless(lacksTerminal, `the program ${does}`, async () => {
    await using program = await startOnTerminal(["--stdin"], { NO_COLOR: env });
    await program.listening();
    await program.type("\x04"); // the end of the input
    await program.waitFor(() => program.stdout.includes("will arrive"));
    Deno.kill(program.inner, "SIGTERM");
    assertEquals((await program.end()).code, 0);
    assertEquals(program.stdout.match(/.*WARN.*/)?.[0], expected);
  });
}

Deno.test("the program colours nothing without a terminal", async () => {
  const env = { NO_COLOR: "" };
  await using program = await Program.start(["--stdin"], { env });
  assertEquals(await program.waitForLines(1), [WARNING]);
});

testUnless(
  lacksTerminal,
  "the program colours nothing in a file, although it is started on a terminal",
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    const run = command(["--port", "0", "--stdin"]).flat();
    const env = { NO_COLOR: "" };
    await using terminal = await Terminal.run(run, `>'${log}'`, env);
    await terminal.portIn(log);
    await terminal.type("\x04");
    const warned = async () => (await Deno.readTextFile(log)).match(/.*WARN.*/);
    await terminal.waitFor(async () => await warned() !== null);
    assertEquals((await warned())?.[0], WARNING);
  },
);

testUnless(
  lacksTerminal,
  "Ctrl+C stops the task start in order, although it comes twice",
  async () => {
    const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
    await using program = await Terminal.run(run);
    await program.listening();
    for (let asked = 0; asked < 20; asked++) {
      await (await get(program.url)).body?.cancel();
    }
    await program.type("\x03");
    assertEquals((await program.end()).code, 0);
    assertEquals(program.lines.length, 20);
  },
);
