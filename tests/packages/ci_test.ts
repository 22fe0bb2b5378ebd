// What runs the tests: .ci/run, and the workflow on GitHub.

import { assert, assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

/** Stands in for npm: each archive contains a program of somebody else's. */
const NPM = `#!/bin/sh
mkdir -p "$4/package/bin"
echo 'echo other' >"$4/package/bin/steady"
tar -czf "$4/$(echo "\${5#@}" | tr /@ --).tgz" -C "$4" package
`;

Deno.test(".ci/run does not unpack a program that has another checksum", async () => {
  using place = await Folder.create();
  const mode = 0o755;
  await Deno.writeTextFile(`${place.path}/npm`, NPM, { mode });
  for (const name of ["apt-get", "dpkg", "npx"]) {
    const script = `#!/bin/sh\necho ${name} $1\n`;
    await Deno.writeTextFile(`${place.path}/${name}`, script, { mode });
  }
  const env = { PATH: `${place.path}:${Deno.env.get("PATH")}` };
  const { code, stdout, stderr } = await output(".ci/run", [], { env });
  assertEquals(code, 1);
  assertMatch(stdout, /stdy-cli-linux-x64.*FAILED/);
  assertMatch(stderr, /2 computed checksums did NOT match/);
  assert(!stdout.includes("npx"), stdout);
});

Deno.test("the workflow's commands are tasks and files", async () => {
  const workflow = await Deno.readTextFile(".github/workflows/ci.yml");
  const commands = workflow.match(/(?<=- run: ).*/g)!;
  assert(commands.length > 0);
  for (const command of commands) {
    const [, task] = command.match(/deno task (\S+)/) ?? [];
    const files = command.split(" ").filter((word) => word.includes("/"));
    assert(task ? task in project.tasks : files.length > 0, command);
    for (const file of files) await Deno.stat(file);
  }
});
