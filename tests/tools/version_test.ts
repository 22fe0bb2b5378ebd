// The version of what `deno task compile` and `deno task package` make.

import { assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { Folder } from "../helpers/files.ts";
import { needs } from "../helpers/needs.ts";
import { type Output, output } from "../helpers/process.ts";

/** Prints the version of a folder. */
function printVersion(cwd: string): Promise<Output> {
  const code = `import { readVersion } from "./.tools/version.ts";
    console.log(await readVersion());`;
  return output(Deno.execPath(), ["eval", code], { cwd });
}

const NEEDED = needs({ commands: ["git"] });

Deno.test(
  "a version names the commit or, after a change, the current time",
  NEEDED,
  async () => {
    using clone = await Folder.ofProject();
    const commit = await clone.commit("2026-11-22T17:29:59+01:00");
    const version = `${project.version}+20261122162959.${commit.slice(0, 7)}\n`;
    assertEquals((await printVersion(clone.path)).stdout, version);
    await Deno.writeTextFile(`${clone.path}/boards`, "board\n"); // is not built
    assertEquals((await printVersion(clone.path)).stdout, version);
    await Deno.writeTextFile(`${clone.path}/src/board/new`, ""); // is in the package
    assertMatch((await printVersion(clone.path)).stdout, /\+20\d{12}\n$/);
  },
);

Deno.test(
  "outside a clone, the version is that in deno.json, and a clone that git cannot read is an error",
  NEEDED,
  async () => {
    using copy = await Folder.ofProject();
    assertEquals(
      (await printVersion(copy.path)).stdout,
      `${project.version}\n`,
    );
    await Deno.mkdir(`${copy.path}/.git`);
    const { code, stderr } = await printVersion(copy.path);
    assertEquals(code, 1);
    assertMatch(stderr, /git cannot tell the version: .*not a git repository/);
  },
);
