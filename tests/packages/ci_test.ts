// The workflow on GitHub, which runs the tests and publishes packages.

import { assert, assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { missingPythonModule, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

interface Step {
  run?: string;
  env?: Record<string, string>;
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

const NEEDED = needs({
  commands: ["dpkg-deb"],
  missing: [missingPythonModule("yaml", "python3-yaml")],
});

Deno.test("the workflow's tasks exist", NEEDED, async () => {
  const { packages } = await readJobs();
  const steps: Step[] = packages.steps;
  const tasks = packages.strategy.matrix.include
    .map(({ task }: { task: string }) => task);
  for (const { run = "" } of steps) {
    const [, task] = run.match(/deno task ([\w:]+)/) ?? [];
    if (task) tasks.push(task);
  }
  assertEquals(tasks.sort(), ["ok", "package", "package:x86_64", "test:board"]);
  for (const task of tasks) assert(task in project.tasks, task);
});

Deno.test(
  "the workflow publishes the packages that it tested, and their checksums, if the tag names their version",
  NEEDED,
  async () => {
    const { packages, release } = await readJobs();
    const [download, ...steps]: Step[] = release.steps;
    const upload: Step = packages.steps.at(-1);
    const tested: Step = packages.steps
      .find(({ run }: Step) => run === "deno task test:board");
    assertEquals(upload.with!.path, tested.env!.DATASENSOR_PACKAGE);
    assertEquals(upload.with!.name, "package-${{ matrix.architecture }}");
    assertEquals(download!.with!.pattern, "package-*");
    assertEquals(release.needs, ["all", "packages"]);
    using place = await Folder.create();
    const script = `mkdir -p tree/DEBIAN dist
      for name in arm64 amd64; do
        printf "%s\\n" "Package: datasensor" "Version: ${project.version}+2026" \
          "Architecture: $name" "Maintainer: a" "Description: b" >tree/DEBIAN/control
        dpkg-deb --build tree dist/datasensor_$name.deb
      done
      mv dist/* . # what is downloaded
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
