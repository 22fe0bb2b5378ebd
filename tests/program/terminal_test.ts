// How the program behaves on a terminal, and when its terminal is closed.

import { assertEquals } from "@std/assert";
import { parseAccessLine } from "../helpers/access_line.ts";
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { getMany, waitUntilClosed } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";
import { waitFor } from "../helpers/wait.ts";

const REQUESTS = 20; // so few that their lines are still buffered

Deno.test(
  "`deno task start` shuts down cleanly after Ctrl+C, although it arrives twice",
  needs({ missing: [missingTerminal()] }),
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

Deno.test(
  "the program shuts down cleanly when its terminal is closed",
  needs({ missing: [missingTerminal()] }),
  async () => {
    using folder = await Folder.create();
    const log = `${folder.path}/log`;
    using port = new ReservedPort(); // the start report is in the log
    const run = programCommand(["--port", `${port}`]).flat();
    const command = onTerminal(run, `>'${log}' 2>&1`);
    await using program = new Process(...command);
    const respond = () =>
      getMany(port.number, REQUESTS).then(() => true, () => false);
    await waitFor(`${REQUESTS} answers at port ${port}`, respond);
    program.kill("SIGKILL"); // the terminal, which is the program's parent
    await waitUntilClosed(port.number);
    // Without its parent, its end cannot be awaited
    const isAnswer = (line: string) => parseAccessLine(line)?.status === "200";
    await waitFor(
      `${REQUESTS} lines in the log`,
      () => Deno.readTextFile(log),
      (text) => text.split("\n").filter(isAnswer).length === REQUESTS,
    );
  },
);

Deno.test(
  "the program serves a line typed on a terminal, and colors its warnings there",
  needs({ missing: [missingTerminal()] }),
  async () => {
    const run = programCommand(["--port", "0", "--stdin"]).flat();
    const env = { NO_COLOR: "" };
    await using program = new Program(...onTerminal(run, "", env));
    await program.waitUntilListening();
    await program.write("21.5\r");
    await program.waitForAnswer('"21.5"');
    await program.write("\x04"); // Ctrl+D
    const warning = "WARN The input has ended: no new readings will arrive";
    const colored = `\x1b[33m${warning}\x1b[0m`;
    const lines = () => program.lines;
    await waitFor(colored, lines, (all) => all.includes(colored));
    await program.write("\x03"); // Ctrl+C
    assertEquals((await program.waitForEnd()).code, 0);
  },
);

Deno.test(
  "Ctrl+C in a pipeline with a sensor is logged as no end of its input",
  needs({ missing: [missingTerminal()] }),
  async () => {
    const run = programCommand(["--port", "0", "--stdin"]).flat();
    const pipeline = 'while echo 21.5; do sleep 0.1; done | "$@"';
    const command = ["sh", "-c", pipeline, "sh", ...run];
    await using program = new Program(...onTerminal(command));
    await program.waitUntilListening();
    await program.waitForAnswer('"21.5"');
    await program.write("\x03");
    await program.waitForEnd();
    assertEquals(program.messages, []);
  },
);
