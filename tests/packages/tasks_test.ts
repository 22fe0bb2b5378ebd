// The tasks that run the service, used as its users do.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

const PROBE = "tests/helpers/permissions_probe.ts";

/** Returns what runs a task, with the `--` that npm users type before flags. */
function run(task: string, cwd: string): ConstructorParameters<typeof Program> {
  const args = ["task", "-q", task, "--", "--port", "0"];
  return [Deno.execPath(), args, { cwd, killGroup: true }];
}

Deno.test("`deno task start` runs the service without unnecessary permissions", async () => {
  using project = await Folder.ofProject();
  await using program = new Program(...run("start", project.path));
  await program.waitUntilListening();
  await program.waitForAnswer();
  assertEquals((await program.stop()).code, 0);
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  const { code, stdout } = await output(...run("start", project.path));
  assertEquals([code, stdout], [0, "Permitted: nothing\n"]);
});

Deno.test("`deno task dev` restarts the service when a file changes, with the same permissions", async () => {
  using project = await Folder.ofProject();
  await using program = new Program(...run("dev", project.path));
  await program.waitUntilListening();
  await program.waitForAnswer();
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  await program.waitFor(() => /Permitted: .*\n/.test(program.stdout));
  assertMatch(program.stdout, /Permitted: nothing\n/);
});

Deno.test("`deno task ok` lists what did not run", async () => {
  using project = await Folder.ofProject();
  const test = `import { testUnless } from "./helpers/machine.ts";
    for (const name of ["a", "b"]) testUnless("no x", name, () => {});`;
  await Deno.writeTextFile(`${project.path}/tests/x_test.ts`, test);
  const ok = ["run", "--allow-all", "tests/helpers/ok.ts", "tests/x_test.ts"];
  const args = ["-u", "CI", Deno.execPath(), ...ok];
  const { stdout } = await output("env", args, { cwd: project.path });
  assertMatch(stdout, /\na \.\.\. ignored.*\nb \.\.\. ignored/);
  const skipped = "\nSkipped 2 tests of tests/x_test.ts: no x\n";
  const board = "Not run: tests/board, see `deno task test:board`\n";
  assert(stdout.endsWith(skipped + board), stdout);
});
