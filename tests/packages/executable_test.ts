// Compiles the executable for this machine into a temporary folder, and runs it.
// tests/board runs that for the board.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { isOlder } from "../../.tools/oldest_deno.ts";
import { VERSION } from "../../src/process/command_line.ts";
import {
  compilerVersion,
  make,
  makeFromCommit,
  OLDEST_DENO,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { readme } from "../helpers/guide.ts";
import { missingCommand, needs } from "../helpers/needs.ts";
import { skipIf } from "../helpers/skip.ts";
import { output } from "../helpers/process.ts";

const project = await Folder.ofProject();
globalThis.addEventListener("unload", () => project.remove());

const { arch, os } = Deno.build;
const file = `${project.path}/dist/datasensor-${arch}`;
const version = await compilerVersion();
const missing = os === "linux"
  ? missingCommand("git") ??
    await makeFromCommit("compile", arch, project)
  : "run it on Linux, for which the executables are";
const NEEDED = needs({ missing: [missing] });

/** The program's tests that run the executable, too. */
const SAME = [
  "command_lines",
  "console",
  "head",
  "program",
  "stderr",
  "stdin",
  "terminal",
];

/** Those that fail if it was compiled with a Deno that is too old. */
const FOR_NEW_DENO = ["flood", "requests", "stop"];

for (const tests of [...SAME, ...FOR_NEW_DENO]) {
  const path = `tests/program/${tests}_test.ts`;
  const name = `the executable passes ${path}`;
  const tooOld = FOR_NEW_DENO.includes(tests) && isOlder(version, OLDEST_DENO)
    ? `compile with a newer Deno than ${version}`
    : undefined;
  const options = tooOld ? skipIf(tooOld) : NEEDED;
  Deno.test(name, options, async () => {
    const args = ["task", "-q", "test", path, "--filter=the program"];
    const env = { DATASENSOR_EXECUTABLE: file };
    const { code, stdout } = await output(Deno.execPath(), args, { env });
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /[1-9]\d* passed/); // the filter matches a test
  });
}

Deno.test(
  "an executable has no unnecessary permissions, and writes no files",
  NEEDED,
  async () => {
    using project = await Folder.ofProject();
    const cwd = project.path;
    const probe = await Deno.readTextFile("tests/helpers/permissions_probe.ts");
    // compile runs it with --version. It must not import VERSION, and thus JSON: such
    // a program never writes a code cache
    const text = VERSION.replace(Deno.version.deno, version);
    const print = `if (Deno.args[0]) console.log("${text}"), Deno.exit();\n`;
    await Deno.writeTextFile(`${cwd}/main.ts`, print + probe);
    const { code, stderr } = await make("compile", arch, cwd, { cwd });
    assertEquals(code, 0, stderr);
    using place = await Folder.create();
    // Without HOME, as in a systemd unit
    const env = ["-u", "HOME", `TMPDIR=${place.path}`];
    const run = [...env, `${cwd}/datasensor-${arch}`];
    const { stdout } = await output("env", run, { cwd: place.path });
    assertEquals(stdout, "Permitted: nothing\n");
    assertEquals(place.names(), []); // no code cache either
  },
);

Deno.test(
  "package:x86_64 makes what the README installs, and prints how",
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
