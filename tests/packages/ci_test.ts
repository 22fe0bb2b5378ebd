// The workflow on GitHub, which runs the tests and publishes packages.

import { assert, assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { missingPythonModule, needs } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";

interface Step {
  run?: string;
  with?: Record<string, string>;
}

/** Parses the workflow. */
async function readJobs() {
  const script = "import json, sys, yaml; " +
    "print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
  const file = ".github/workflows/ci.yml";
  const { stdout } = await output("python3", ["-c", script, file]);
  return JSON.parse(stdout).jobs;
}

const NEEDED = needs(missingPythonModule("yaml", "python3-yaml"), "dpkg-deb");

Deno.test("the workflow's commands are tasks and files", NEEDED, async () => {
  const { all, newest } = await readJobs();
  const steps: Step[] = [...all.steps, ...newest.steps];
  const commands = steps.flatMap(({ run }) => run ?? []);
  assert(commands.length > 4);
  for (const command of commands) {
    const [, task] = command.match(/deno task (\S+)/) ?? [];
    const files = command.split(" ").filter((word) => word.includes("/"));
    assert(task ? task in project.tasks : files.length > 0, command);
    for (const file of files) await Deno.stat(file);
  }
});

Deno.test(
  "the workflow publishes the packages that it tested, and their checksums, if the tag names their version",
  NEEDED,
  async () => {
    const { newest, release } = await readJobs();
    const [download, ...steps]: Step[] = release.steps;
    const { name, path } = newest.steps.at(-1).with;
    const [runner] = newest.strategy.matrix.runner;
    const artifact = name.replace("${{ matrix.runner }}", runner);
    assertEquals(download!.with!.name, artifact);
    assertEquals(release.needs, ["all", "newest"]);
    using place = await Folder.create();
    const script = `mkdir -p tree/DEBIAN dist
      for name in arm64 amd64; do
        printf "%s\\n" "Package: datasensor" "Version: ${project.version}+2026" \
          "Architecture: $name" "Maintainer: a" "Description: b" >tree/DEBIAN/control
        dpkg-deb --build tree dist/datasensor_$name.deb
      done
      mv ${path} . # what is uploaded
      gh() { echo "$@"; }
      ${steps.map(({ run }) => run ?? "").join("\n")}
      sha256sum --check SHA256SUMS`;
    const publish = (GITHUB_REF_NAME: string) => {
      const options = { cwd: place.path, env: { GITHUB_REF_NAME } };
      return output("sh", ["-ec", script], options);
    };
    const files = "datasensor_amd64.deb datasensor_arm64.deb";
    const { code, stdout, stderr } = await publish(`v${project.version}`);
    assertEquals(code, 0, stderr);
    assertMatch(stdout, new RegExp(`release create v.* ${files} SHA256SUMS\n`));
    assertMatch(stdout, /amd64.deb: OK\n.*arm64.deb: OK\n$/);
    assertEquals((await publish("v0.9.0")).code, 1);
  },
);
