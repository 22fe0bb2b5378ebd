// The workflow on GitHub, which runs the tests and publishes packages.

import { assert, assertEquals, assertMatch } from "@std/assert";
import tools from "../../.ci/package.json" with { type: "json" };
import lock from "../../.ci/package-lock.json" with { type: "json" };
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { missingPythonModule, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
}

interface Job {
  needs?: string | string[];
  outputs?: Record<string, string>;
  env?: Record<string, string>;
  steps: Step[];
}

type Jobs = Record<"build" | "rebuild" | "all" | "packages" | "release", Job>;

/** Parses the workflow. */
async function readJobs(): Promise<Jobs> {
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
  const { build, rebuild, packages } = await readJobs();
  const tasks = ({ steps }: Job) =>
    steps.flatMap(({ run }) => run?.match(/deno task ([\w:]+)/)?.[1] ?? []);
  assertEquals(tasks(build), ["package", "package:x86_64"]);
  assertEquals(tasks(rebuild), tasks(build));
  assertEquals(tasks(packages), ["test:board", "ok"]);
  for (const task of [...tasks(build), ...tasks(packages)]) {
    assert(task in project.tasks, task);
  }
});

Deno.test(".ci/run uses the Deno of .dvmrc, and knows the checksums of what it installs from npm", async () => {
  const version = (await Deno.readTextFile(".dvmrc")).trim();
  const script = await Deno.readTextFile(".ci/run");
  assertMatch(script, RegExp(`^[\\da-f]{64}  deno-.*-${version}.tgz$`, "m"));
  const { "": root, ...packages } = lock.packages;
  assertEquals(root.dependencies, tools.dependencies);
  for (const [name, entry] of Object.entries(packages)) {
    // What a package brings along has the checksum of that package
    assert("integrity" in entry || "inBundle" in entry, name);
  }
});

Deno.test(
  "the workflow pins each action by its commit, and restores no cache for a release",
  NEEDED,
  async () => {
    const jobs = Object.values(await readJobs());
    const actions = jobs.flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses !== undefined);
    for (const { uses, ...step } of actions) {
      assertMatch(uses!, /^[\w-]+\/[\w-]+@[\da-f]{40}$/);
      if (!uses!.startsWith("actions/cache@")) continue;
      assertEquals(step.if, "${{ !startsWith(github.ref, 'refs/tags/') }}");
    }
  },
);

const CHECKSUMS = "${{ needs.build.outputs.checksums }}";

/** Runs a shell as the workflow's steps do. */
function run(script: string, cwd: string, env: Record<string, string> = {}) {
  return output("bash", ["-ec", script], { cwd, env });
}

/** Makes packages of a version in a folder. */
async function makePackages(folder: string): Promise<void> {
  const { code, stderr } = await run(
    `mkdir -p tree/DEBIAN
    for name in arm64 amd64; do
      printf "%s\\n" "Package: datasensor" "Version: ${project.version}+2026" \
        "Architecture: $name" "Maintainer: a" "Description: b" >tree/DEBIAN/control
      dpkg-deb --build tree datasensor_$name.deb
    done`,
    folder,
  );
  assertEquals(code, 0, stderr);
}

Deno.test(
  "the workflow publishes the packages that it made before all tests, and their checksums, if the tag names their version",
  NEEDED,
  async () => {
    const { build, rebuild, packages, release } = await readJobs();
    assertEquals(build.needs, undefined);
    assertEquals(rebuild.needs, "build");
    assertEquals(packages.needs, "build");
    assertEquals(release.needs, ["build", "rebuild", "all", "packages"]);
    assertEquals(release.env!.CHECKSUMS, CHECKSUMS);
    using folder = await Folder.create();
    await makePackages(folder.path);

    // The job's output, as GitHub reads it
    const sum = build.steps.find(({ id }) => id === "sum")!;
    const env = { GITHUB_OUTPUT: "output" };
    assertEquals((await run(sum.run!, folder.path, env)).code, 0);
    const written = await Deno.readTextFile(`${folder.path}/output`);
    const [, checksums] = written.match(/^checksums<<END\n([^]*)\nEND\n$/)!;

    const lines = release.steps.map(({ run }) => run ?? "").join("\n");
    const publish = (tag: string) =>
      run(`gh() { echo "$@"; }\n${lines}`, folder.path, {
        GITHUB_REF_NAME: tag,
        CHECKSUMS: checksums!,
      });
    const { code, stdout, stderr } = await publish(`v${project.version}`);
    assertEquals(code, 0, stderr);
    const files = "datasensor_amd64.deb datasensor_arm64.deb";
    assertMatch(stdout, new RegExp(`release create v.* ${files} SHA256SUMS\n`));
    assertMatch(stdout, /amd64.deb: OK\n.*arm64.deb: OK\n/);
    assertEquals((await publish("v0.9.0")).code, 1);

    // What a test or a second build has changed
    const { run: check, env: checked } = rebuild.steps.at(-1)!;
    assertEquals(checked!.CHECKSUMS, CHECKSUMS);
    assert(packages.steps.some((step) => step.run === check));
    const compare = () => run(check!, folder.path, { CHECKSUMS: checksums! });
    assertEquals((await compare()).code, 0);
    const changed = `${folder.path}/datasensor_amd64.deb`;
    await Deno.writeTextFile(changed, "changed", { append: true });
    assertEquals((await compare()).code, 1);
    assertEquals((await publish(`v${project.version}`)).code, 1);
  },
);
