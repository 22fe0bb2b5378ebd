// The tasks that run the service, used as its users do.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

const PROBE = "tests/tools/permissions_probe.ts";

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
  const [permitted] = await program.waitForMatch(/Permitted: .*\n/);
  assertEquals(permitted, "Permitted: nothing\n");
});
