// Compiles the executables into a temporary folder, and runs them.

import { assertEquals, assertMatch } from "@std/assert";
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { compilerVersion, make } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import {
  missingCommand,
  missingNamespaces,
  skip,
  testUnless,
} from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";
import { getDenoFlags, Program } from "../helpers/program.ts";

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

type Executable = Awaited<ReturnType<typeof prepare>>;

/** Compiles for a processor, and finds out whether the result can run. */
async function prepare(processor: "aarch64" | "x86_64") {
  const file = `${folder.path}/datasensor-${processor}`;
  const isNative = Deno.build.os === "linux" && Deno.build.arch === processor;
  const { code, stderr } = await make("compile", processor, folder.path);
  if (code !== 0) {
    const cannotRun = `cannot compile for ${processor}: ${lastLine(stderr)}`;
    return { processor, file, isNative, cannotRun };
  }
  if (isNative) return { processor, file, isNative };
  const emulator = `qemu-${processor}-static`;
  const script = `#!/bin/sh\nexec ${emulator} '${file}' "$@"\n`;
  await Deno.writeTextFile(`${file}.sh`, script, { mode: 0o755 });
  const cannotRun = await missingCommand(emulator);
  return { processor, file: `${file}.sh`, isNative, cannotRun };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)!;
}

/** The program's tests that fail with a Deno that is too old. */
const FOR_NEW_DENO = ["flood", "requests", "stop"];

/** Declares a test that runs some of the program's tests on an executable. */
function testProgram(
  { processor, file, cannotRun }: Executable,
  tests: string,
  filter = "the program", // which test names contain
): void {
  const name = `the ${processor} executable passes ${tests} ("${filter}")`;
  if (FOR_NEW_DENO.includes(tests) && isTooOld(version)) {
    return skip(name, `it is compiled with Deno ${version}, which is too old`);
  }
  testUnless(cannotRun, name, async () => {
    const path = `tests/program/${tests}_test.ts`;
    const args = ["task", "-q", "test", path, `--filter=${filter}`];
    const env = { DATASENSOR_EXECUTABLE: file };
    const { code, stdout } = await output(Deno.execPath(), args, { env });
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /[1-9]\d* passed/); // the filter matches a test
  });
}

const version = await compilerVersion();
const executables = await Promise.all([prepare("aarch64"), prepare("x86_64")]);

for (const executable of executables) {
  if (!executable.isNative) { // an emulator is slow
    testProgram(executable, "stdin", "the program serves the last line");
    continue;
  }
  const same = ["console", "program", "stderr", "stdin", "terminal"];
  for (const tests of [...same, "requests", "stop"]) {
    testProgram(executable, tests);
  }
  testProgram(executable, "flood", "the program answers");
}

// The other tests run the executable for this machine
const { processor, file, cannotRun } =
  executables.find(({ isNative }) => isNative) ??
    { ...executables[0], cannotRun: "this machine needs another executable" };

testUnless(
  cannotRun,
  "an executable has no unnecessary permissions",
  async () => {
    using project = await Folder.ofProject();
    const { path } = project;
    const probe = await Deno.readTextFile("tests/helpers/permissions_probe.ts");
    const version = `import { VERSION } from "./src/command_line.ts";
      if (Deno.args[0] === "--version") console.log(VERSION), Deno.exit();\n`;
    await Deno.writeTextFile(`${path}/main.ts`, version + probe);
    const { code, stderr } = await make("compile", processor, path, {
      cwd: path,
    });
    assertEquals(code, 0, stderr);
    using place = await Folder.create();
    const env = { HOME: place.path, TMPDIR: place.path };
    const run = await output(`${path}/datasensor-${processor}`, [], { env });
    assertEquals(run.stdout, "Permitted: nothing\n");
    assertEquals(place.names(), []); // no code cache either
  },
);

testUnless(
  cannotRun ?? await missingNamespaces() ?? await missingCommand("setpriv"),
  "an executable needs no other files and no place to write",
  async () => {
    // As nobody, in an empty folder, without HOME, on read-only file systems
    const script = `mount -t tmpfs -o mode=755 tmpfs /mnt
      mkdir /mnt/empty
      cp "$0" /mnt/datasensor
      mount -o remount,ro /mnt
      mount -t tmpfs -o ro tmpfs /tmp
      cd /mnt/empty
      exec env -i setpriv --reuid=65534 --regid=65534 --clear-groups \\
        --no-new-privs /mnt/datasensor --port 0`;
    const args = ["--mount", "sh", "-ec", script, file];
    await using program = new Program("unshare", args);
    await program.waitUntilListening();
    await program.waitForAnswer();
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

testUnless(
  cannotRun,
  "compile builds and reports the same executable in another folder from files with other dates",
  async () => {
    using copy = await Folder.ofProject();
    using cache = await Folder.ofCache();
    // Gives the current date to the fallback's package, if it is cached
    const script = "tar cf npm.tar npm/*/deno-std && rm npm && tar xmf npm.tar";
    await output("sh", ["-c", script], { cwd: cache.path });
    const options = { cwd: copy.path, env: { DENO_DIR: cache.path } };
    const { stdout, stderr } = await make("compile", processor, "a/b", options);
    const made = `a/b/datasensor-${processor}`;
    const files = [file, `${copy.path}/${made}`];
    const sums = (await output("sha256sum", files)).stdout.match(/^\w+/gm)!;
    assertEquals(sums[1], sums[0], stderr);
    const { size } = await Deno.stat(file);
    const report = [`${made}: ${size} bytes`, `SHA-256 ${sums[0]}`];
    if (getDenoFlags().some((flag) => flag.startsWith("--import-map"))) {
      report.push("Compiled with substitutes for @std from npm and .tools/std");
    }
    assertEquals(stdout, `${report.join("\n")}\n`);
    const warning = `With Deno ${version}, the service does not`;
    assertEquals(stderr.includes(warning), isTooOld(version), stderr);
  },
);
