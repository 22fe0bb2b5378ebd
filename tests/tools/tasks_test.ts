// The task that runs the service, used as its users do.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

const PROBE = "tests/tools/permissions_probe.ts";

/** Runs the task in a folder, with the `--` that npm users type before flags. */
const start = (cwd: string): ConstructorParameters<typeof Program> => [
  Deno.execPath(),
  ["task", "-q", "start", "--", "--port", "0"],
  { cwd, killGroup: true },
];

Deno.test("`deno task start` runs the service without unnecessary permissions", async () => {
  using project = await Folder.ofProject();
  await using program = new Program(...start(project.path));
  await program.waitUntilListening();
  await program.waitForAnswer();
  assertEquals((await program.stop()).code, 0);
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  const { code, stdout } = await output(...start(project.path));
  assertEquals([code, stdout], [0, "Permitted: nothing\n"]);
});
