// Compiles the executables into a temporary folder, and runs them.

import { assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { compile, compilerVersion } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import {
  missingAddress,
  missingCommand,
  missingNamespaces,
  skip,
  testUnless,
} from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { getDenoFlags, Program, programCommand } from "../helpers/program.ts";

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

/** Compiles for a processor, and finds out how to run the result. */
async function prepare(processor: "aarch64" | "x86_64") {
  const file = `${folder.path}/datasensor-${processor}`;
  const isNative = Deno.build.os === "linux" && Deno.build.arch === processor;
  const emulator = isNative ? [] : [`qemu-${processor}-static`];
  const { code, stderr } = await compile(processor, folder.path);
  const cannotRun = code === 0
    ? await missingCommand(...emulator)
    : `cannot compile for ${processor}: ${lastLine(stderr)}`;
  return { processor, file, run: [...emulator, file], isNative, cannotRun };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)!;
}

const version = await compilerVersion();
const executables = await Promise.all([prepare("aarch64"), prepare("x86_64")]);

for (const { processor, run, cannotRun } of executables) {
  const name = `the ${processor} executable reads, answers, logs and stops`;
  testUnless(cannotRun, name, async () => {
    const { stdout } = await output(run[0]!, [...run.slice(1), "--version"]);
    const deno = `Deno ${version}, ${processor}`;
    assertEquals(stdout, `datasensor ${project.version} (${deno})\n`);
    const input = 'exec "$@" <<END\n21.5 °C\nEND\n'; // a pipe, for sh
    const args = ["-c", input, "sh", ...run, "--port", "0", "--stdin"];
    await using program = new Program("sh", args);
    await program.waitForLines(1); // the input has ended
    assertEquals(await (await get(program.url)).text(), '"21.5 °C"');
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
    assertMatch(program.lines[1]!, /\] "GET \/datasensor HTTP\/1.1" 200 -$/);
  });
}

// The other tests run the executable for this machine
const { processor, file, cannotRun } =
  executables.find(({ isNative }) => isNative) ??
    { ...executables[0], cannotRun: "this machine needs another executable" };

testUnless(
  cannotRun ?? missingAddress("::1"),
  "an executable handles flags like the sources",
  async () => {
    for (const args of [["--help"], ["--host", "192.0.2.7"]]) {
      assertEquals(
        await output(file, args),
        await output(...programCommand(args)),
      );
    }
    for (const host of ["::", "127.0.0.1", "::1", "localhost"]) {
      await using program = new Program(file, ["--port", "0", "--host", host]);
      await program.waitUntilListening();
      assertEquals(await (await get(program.url)).text(), '"Sensor data"');
    }
  },
);

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
    const { code, stderr } = await compile(processor, path, { cwd: path });
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
    assertEquals(await (await get(program.url)).text(), '"Sensor data"');
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
    const { stdout, stderr } = await compile(processor, "a/b", options);
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

/** Declares a test that runs one of the program's tests on the executable. */
function testProgram(name: string, testFile: string, filter: string): void {
  testUnless(cannotRun, name, async () => {
    const path = `tests/program/${testFile}`;
    const args = ["task", "-q", "test", path, `--filter=${filter}`];
    const env = { DATASENSOR_EXECUTABLE: file };
    const { code, stdout } = await output(Deno.execPath(), args, { env });
    assertEquals(code, 0, stdout);
    assertMatch(stdout, /[1-9]\d* passed/); // the filter matches a test
  });
}

const full = "an executable runs while its standard error is full";
testProgram(full, "stderr_test.ts", "stops while");

const flood = "an executable answers while clients hold all connections";
if (isTooOld(version)) {
  skip(flood, `it is compiled with Deno ${version}, which is too old`);
} else {
  testProgram(flood, "flood_test.ts", "the program answers");
}
