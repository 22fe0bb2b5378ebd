// What the program does only on a terminal: colors and keys.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { testUnless } from "../helpers/machine.ts";
import { command } from "../helpers/program.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";

const WARNING = "WARN The input has ended: no new readings will arrive";
const RUN = command(["--port", "0", "--stdin"]).flat();
const END_OF_INPUT = "\x04";

const COLORS: [does: string, NO_COLOR: string, expected: string][] = [
  ["colors its warnings on a terminal", "", `\x1b[33m${WARNING}\x1b[0m`],
  ["colors nothing if NO_COLOR is set", "1", WARNING],
];

for (const [does, NO_COLOR, expected] of COLORS) {
  testUnless(lacksTerminal, `the program ${does}`, async () => {
    await using program = await Terminal.run(RUN, "", { NO_COLOR });
    await program.listening();
    await program.type(END_OF_INPUT);
    assertEquals(await program.waitForLines(1), [expected]);
  });
}

testUnless(
  lacksTerminal,
  "the program colors nothing in a file, even if it was started on a terminal",
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    const env = { NO_COLOR: "" };
    await using terminal = await Terminal.run(RUN, `>'${log}'`, env);
    await terminal.portIn(log);
    await terminal.type(END_OF_INPUT);
    const warning = async () =>
      (await Deno.readTextFile(log)).match(/.*WARN.*/)?.[0];
    await terminal.waitFor(async () => await warning() !== undefined);
    assertEquals(await warning(), WARNING);
  },
);

testUnless(
  lacksTerminal,
  "the task start shuts down cleanly after Ctrl+C, which arrives twice",
  async () => {
    const run = [Deno.execPath(), "task", "-q", "start", "--port", "0"];
    await using program = await Terminal.run(run);
    await program.listening();
    for (let count = 0; count < 20; count++) await program.answers();
    await program.type("\x03");
    assertEquals((await program.end()).code, 0);
    assertEquals(program.lines.length, 20);
  },
);
