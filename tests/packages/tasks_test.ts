// The tasks that run the service, as its users run them.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { probe, Program } from "../helpers/program.ts";
import project from "../../deno.json" with { type: "json" };

const PROBE = "tests/helpers/permissions_probe.ts";

/** Starts a task in a folder. */
function start(task: string, { path }: Folder): Program {
  const args = ["task", "-q", task, "--port", "0"];
  return new Program(Deno.execPath(), args, { cwd: path, startsOthers: true });
}

async function read(program: Program): Promise<string> {
  await program.listening();
  return await (await get(program.url)).text();
}

Deno.test("the task start runs the service with no permission that it does not need", async () => {
  using project = await Folder.ofProject();
  {
    await using program = start("start", project);
    assertEquals(await read(program), '"Sensor data"');
    assertEquals((await program.stop()).code, 0);
  }
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  await using program = start("start", project);
  assertEquals(await probe(program), []);
});

Deno.test("the task dev restarts the service when a file changes, with the same permissions", async () => {
  using project = await Folder.ofProject();
  await using program = start("dev", project);
  assertEquals(await read(program), '"Sensor data"');
  const before = program.addresses.length;
  await Deno.copyFile(PROBE, `${project.path}/main.ts`);
  await program.waitFor(() => program.addresses.length > before);
  assertEquals(await probe(program), []);
});

Deno.test("the task start ignores the -- that npm needs before flags", async () => {
  const args = ["task", "-q", "start", "--", "--version"];
  const options = { startsOthers: true };
  const { code, stdout } = await output(Deno.execPath(), args, options);
  assertEquals([code, stdout], [0, `${project.version}\n`]);
});
