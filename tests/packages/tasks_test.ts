// The tasks that run the service, used as its users do.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { waitUntilClosed } from "../helpers/network.ts";
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
  const [permitted] = await program.waitForMatch(/Permitted: .*\n/);
  assertEquals(permitted, "Permitted: nothing\n");
});

Deno.test("the first SIGTERM to `deno task dev` stops the service, and the second Deno's watcher", async () => {
  await using program = new Program(...run("dev", "."));
  await program.waitUntilListening();
  const { port } = program;
  program.kill("SIGTERM");
  await waitUntilClosed(port);
  // And nothing keeps its output open
  await program.repeatUntilEnd(() => program.kill("SIGTERM"));
});

Deno.test("`deno task ok` lists what did not run, which fails in CI", async () => {
  using project = await Folder.ofProject();
  const test = `import { needs } from "./helpers/needs.ts";
    Deno.test("a", needs({ commands: ["no-such-command"] }), () => {});
    Deno.test("b", needs({ commands: ["sh"], missing: ["let it be Monday"] }), () => {});`;
  await Deno.writeTextFile(`${project.path}/tests/x_test.ts`, test);
  const ok = ["run", "--allow-all", "tests/helpers/ok.ts", "tests/x_test.ts"];
  const run = (...environment: string[]) => {
    const args = [...environment, Deno.execPath(), ...ok];
    return output("env", args, { cwd: project.path });
  };
  const { code, stdout } = await run("-u", "CI");
  assertEquals(code, 0);
  assertMatch(stdout, / 0 passed .* 2 ignored /);
  const skipped =
    "\nSkipping tests of tests/x_test.ts: install no-such-command\n" +
    "Skipping tests of tests/x_test.ts: let it be Monday\n";
  const board =
    "Not run: tests/board, see `deno task test:board` and `test:arm`\n";
  assert(stdout.endsWith(skipped + board), stdout);
  const inCi = await run("CI=true");
  assertEquals(inCi.code, 1);
  assertMatch(inCi.stderr + inCi.stdout, /To test, install no-such-command/);
});
