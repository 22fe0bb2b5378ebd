// Compiles the executable for this machine into a temporary folder, and runs it.
// tests/board runs that for the board.

import { assert, assertEquals } from "@std/assert";
import {
  assertConfined,
  assertServes,
  make,
  makeFromCommit,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { readme } from "../helpers/guide.ts";
import { missingCommand, needs } from "../helpers/needs.ts";

const project = await Folder.ofProject();
globalThis.addEventListener("unload", () => project.remove());

const { arch, os } = Deno.build;
const missing = os === "linux"
  ? missingCommand("git") ??
    await makeFromCommit("compile", arch, project)
  : "run it on Linux, for which the executables are";
const NEEDED = needs({ missing: [missing] });

Deno.test(
  "the executable starts, answers and stops",
  NEEDED,
  () => assertServes([`${project.path}/dist/datasensor-${arch}`]),
);

Deno.test(
  "an executable has no unnecessary permissions, and writes no files",
  NEEDED,
  () => assertConfined(arch),
);

Deno.test(
  "package --target=x86_64 makes what the README installs, and prints how",
  NEEDED,
  async () => {
    using place = await Folder.create();
    // Stands in for dpkg-deb, which compresses for a minute
    const script = '#!/bin/sh\nfor name; do :; done\n: >"$name"\n';
    await Deno.writeTextFile(`${place.path}/dpkg-deb`, script, { mode: 0o755 });
    const env = { PATH: `${place.path}:${Deno.env.get("PATH")}` };
    const options = { cwd: project.path, env };
    const { stdout, stderr } = await make("package", "x86_64", "dist", options);
    const command =
      /To install it: sudo apt install (\.\/dist\/.*_amd64\.deb)\n/;
    const [, path] = stdout.match(command) ?? [];
    assert(path, stdout + stderr);
    const link = readme.line("dist/datasensor_amd64.deb").split(" ").at(-1)!;
    const target = await Deno.realPath(`${project.path}/${link}`);
    assertEquals(target, await Deno.realPath(`${project.path}/${path}`));
  },
);
