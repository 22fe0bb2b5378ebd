// The tasks that run the service, used as its users do.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { Program } from "../helpers/program.ts";

const PROBE = "tests/helpers/permissions_probe.ts";

/** Starts a task in a folder, with the `--` that npm users type before flags. */
function start(task: string, { path }: Folder): Program {
  const args = ["task", "-q", task, "--", "--port", "0"];
  return new Program(Deno.execPath(), args, { cwd: path, killGroup: true });
}

Deno.test("`deno task start` runs the service without unnecessary permissions", async () => {
  using project = await Folder.ofProject();
  await using program = start("start", project);
  await program.waitUntilListening();
  await program.waitForAnswer();
  assertEquals((await program.stop()).code, 0);
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  await using probe = start("start", project);
  assertEquals((await probe.waitForEnd()).code, 0);
  assertEquals(probe.stdout, "Permitted: nothing\n");
});

Deno.test("`deno task dev` restarts the service when a file changes, with the same permissions", async () => {
  using project = await Folder.ofProject();
  await using program = start("dev", project);
  await program.waitUntilListening();
  await program.waitForAnswer();
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  await program.waitFor(() => /Permitted: .*\n/.test(program.stdout));
  assertMatch(program.stdout, /Permitted: nothing\n/);
});
