// Compiles the executable for this machine into a temporary folder, and runs it.
// tests/board runs that for the board.

import { assertEquals, assertMatch } from "@std/assert";
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { VERSION } from "../../src/process/command_line.ts";
import {
  compilerVersion,
  make,
  makeFromCommit,
  makeInClone,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, skip, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";
import { getDenoFlags } from "../helpers/program.ts";

const project = await Folder.ofProject();
globalThis.addEventListener("unload", () => project.remove());

const { arch, os } = Deno.build;
const file = `${project.path}/dist/datasensor-${arch}`;
const version = await compilerVersion();
const missing = os === "linux"
  ? await missingCommand("git") ??
    await makeFromCommit("compile", arch, project)
  : "executables for Linux do not run here";

/** The program's tests that run the executable, too. */
const SAME = ["console", "program", "stderr", "stdin", "terminal"];

/** Those that fail if it was compiled with a Deno that is too old. */
const FOR_NEW_DENO = ["flood", "requests", "stop"];

for (const tests of [...SAME, ...FOR_NEW_DENO]) {
  const path = `tests/program/${tests}_test.ts`;
  const name = `the executable passes ${path}`;
  if (FOR_NEW_DENO.includes(tests) && isTooOld(version)) {
    skip(name, `it is compiled with Deno ${version}, which is too old`);
    continue;
  }
  testUnless(missing, name, async () => {
    const args = ["task", "-q", "test", path, "--filter=the program"];
    const env = { DATASENSOR_EXECUTABLE: file, DATASENSOR_SKIPPED: "" };
    const { code, stdout } = await output(Deno.execPath(), args, { env });
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /[1-9]\d* passed/); // the filter matches a test
  });
}

testUnless(
  missing,
  "an executable has no unnecessary permissions, and writes no files",
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

testUnless(
  missing,
  "compile builds and reports the same executable in another clone",
  async () => {
    using place = await Folder.create();
    using cache = await Folder.ofCache();
    // Gives the current date to the fallback's package, if it is cached
    const script = "tar cf npm.tar npm/*/deno-std && rm npm && tar xmf npm.tar";
    await output("sh", ["-c", script], { cwd: cache.path });
    const env = { DENO_DIR: cache.path };
    const made = await makeInClone("compile", arch, project, place, env);
    const { folder, stdout, stderr } = made;
    const files = [file, `${folder}/datasensor-${arch}`];
    const sums = (await output("sha256sum", files)).stdout.match(
      /\b\w{64}\b/g,
    )!;
    assertEquals(sums[1], sums[0], stderr);
    const { size } = await Deno.stat(file);
    const report = [
      `a/b/datasensor-${arch}: ${size} bytes`,
      `SHA-256 ${sums[0]}`,
    ];
    if (getDenoFlags().some((flag) => flag.startsWith("--import-map"))) {
      report.unshift(
        "Compiled with substitutes for @std from npm and .tools/std",
      );
    }
    assertEquals(stdout, `${report.join("\n")}\n`);
    const warning = `With Deno ${version}, the service does not`;
    assertEquals(stderr.includes(warning), isTooOld(version), stderr);
  },
);
