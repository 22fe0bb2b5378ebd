// The version of what `deno task compile` and `deno task package` make.

import { assert, assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { type Output, output } from "../helpers/process.ts";

/** Prints the version of a clone. */
function printVersion(cwd: string): Promise<Output> {
  const code = `import { readVersion } from "./.tools/version.ts";
    console.log(await readVersion());`;
  const options = { cwd, env: { GIT_DIR: "/nowhere" } };
  return output(Deno.execPath(), ["eval", code], options);
}

/** Returns the version of a clone. */
async function readVersion(cwd: string): Promise<string> {
  return (await printVersion(cwd)).stdout.trim();
}

Deno.test(
  "a version names the commit or, with uncommitted changes, the current time",
  needs({ commands: ["git"] }),
  async () => {
    using clone = await Folder.ofProject();
    const copy = `${clone.path}/copy`; // which is no repository
    const script = 'mkdir "$0" && cp -R deno.json deno.lock .tools "$0"';
    await output("sh", ["-c", script, copy], { cwd: clone.path });
    const commit = await clone.commit("2026-11-22T17:29:59+01:00");
    const version = `${project.version}+20261122162959.${commit.slice(0, 7)}`;
    assertEquals(await readVersion(clone.path), version);
    assertEquals(await readVersion(copy), project.version);
    await Deno.mkdir(`${copy}/.git`);
    const { code, stderr } = await printVersion(copy);
    assertEquals(code, 1);
    assertMatch(stderr, /not a git repository/);

    await Deno.writeTextFile(`${clone.path}/boards`, "board\n"); // is not built
    assertEquals(await readVersion(clone.path), version);
    for (const file of ["README.md", "src/board/new"]) { // both are in the package
      const path = `${clone.path}/${file}`;
      await Deno.writeTextFile(path, "changed", { append: true });
      const changed = await readVersion(clone.path);
      assertMatch(changed, /\+20\d{12}$/);
      assert(changed > version);
      const restore = ["-C", clone.path, "stash", "--include-untracked"];
      const name = ["-c", "user.name=test", "-c", "user.email=test"];
      await output("git", [...name, ...restore]);
    }
  },
);

Deno.test(
  "the guide's commands for an update bring a newer version",
  needs({ commands: ["git"] }),
  async () => {
    using origin = await Folder.ofProject();
    await origin.commit("2026-11-22T16:29:59Z");
    using place = await Folder.create();
    const cwd = `${place.path}/clone`;
    await output("git", ["clone", "-q", origin.path, cwd]);
    const older = await readVersion(cwd);
    await Deno.writeTextFile(`${origin.path}/README.md`, "newer");
    await origin.commit("2026-11-22T16:30:00Z");
    const [pull, build] = guide.block("git pull").split("\n");
    assertEquals(build, "deno task package"); // other tests run it
    const { code, stderr } = await output("sh", ["-c", pull!], { cwd });
    assertEquals(code, 0, stderr);
    const newer = await readVersion(cwd);
    assertEquals([older, newer].map((it) => it.slice(0, -7)), [
      `${project.version}+20261122162959.`,
      `${project.version}+20261122163000.`,
    ]);
  },
);
