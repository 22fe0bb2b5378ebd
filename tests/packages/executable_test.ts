// Compiles the executables into a folder of their own, and runs them.

import { assertEquals } from "@std/assert";
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { compile, COMPILER_VERSION } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import {
  lacksAddress,
  lacksCommand,
  lacksNamespaces,
  skip,
  testUnless,
} from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { command, FLAGS, probe, Program } from "../helpers/program.ts";

/** The processors, and their numbers in ELF files. */
const MACHINES = { aarch64: 183, x86_64: 62 } as const;
type Processor = keyof typeof MACHINES;

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

/** Compiles for a processor, and finds out how to run the result. */
async function prepare(processor: Processor) {
  const file = `${folder.path}/datasensor-${processor}`;
  const isNative = Deno.build.os === "linux" && Deno.build.arch === processor;
  const emulator = `qemu-${processor}-static`;
  const { code, stdout, stderr } = await compile(processor, folder.path);
  const failed = code === 0
    ? undefined
    : `cannot compile for ${processor}: ${stderr.trim().split("\n").at(-1)}`;
  return {
    processor,
    file,
    isNative,
    stdout,
    stderr,
    failed,
    cannotRun: failed ?? (isNative ? undefined : await lacksCommand(emulator)),
    run: isNative ? [file] : [emulator, file],
  };
}

const executables = await Promise.all([prepare("aarch64"), prepare("x86_64")]);
const { processor, file, cannotRun } =
  executables.find(({ isNative }) => isNative) ??
    { ...executables[0], cannotRun: "this machine needs another executable" };

async function digest(file: string): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

for (const executable of executables) {
  const { processor, file, stdout, stderr, failed, cannotRun, run } =
    executable;

  testUnless(
    failed,
    `compile reports on the ${processor} executable`,
    async () => {
      const { size } = await Deno.stat(file);
      const report = [
        `${file}: ${size} bytes`,
        `SHA-256 ${await digest(file)}`,
      ];
      if (FLAGS.some((flag) => flag.startsWith("--import-map"))) {
        report.push("@std comes from npm and .tools/std, not from jsr.io");
      }
      assertEquals(stdout.trimEnd().split("\n"), report);
      const warning = `With Deno ${COMPILER_VERSION}, the service does not`;
      assertEquals(
        stderr.includes(warning),
        isTooOld(COMPILER_VERSION),
        stderr,
      );
      using opened = await Deno.open(file);
      const header = new Uint8Array(20);
      await opened.read(header);
      const machine = new DataView(header.buffer).getUint16(18, true);
      assertEquals(machine, MACHINES[processor]);
    },
  );

  testUnless(
    cannotRun,
    `the ${processor} executable reads, answers, logs and stops`,
    async () => {
      const input = 'exec "$@" <<END\n21.5 °C\nEND\n'; // a pipe, for sh
      const args = ["-c", input, "sh", ...run, "--port", "0", "--stdin"];
      await using program = new Program("sh", args);
      await program.waitForLines(1); // the input has ended
      const response = await get(program.url);
      assertEquals(await response.text(), '"21.5 °C"');
      const other = await get(`${program.origin}/other`, { method: "HEAD" });
      assertEquals([other.status, await other.text()], [404, ""]);
      assertEquals((await program.stop()).code, 0);
      assertEquals(program.stderr, "");
      assertEquals(
        program.lines.slice(1).map((line) => line.replace(/^.*\] /, "")),
        [
          '"GET /datasensor HTTP/1.1" 200 -',
          '"HEAD /other HTTP/1.1" 404 -',
        ],
      );
    },
  );
}

testUnless(
  cannotRun,
  "an executable handles --help, --version and invalid flags as its sources do",
  async () => {
    for (const args of [["--help"], ["--version"], ["--host", "192.0.2.7"]]) {
      assertEquals(await output(file, args), await output(...command(args)));
    }
  },
);

testUnless(
  cannotRun ?? lacksAddress("::1"),
  "an executable listens on every address that --host offers",
  async () => {
    for (const host of ["::", "127.0.0.1", "::1", "localhost"]) {
      await using program = new Program(file, ["--port", "0", "--host", host]);
      await program.listening();
      assertEquals(await (await get(program.url)).text(), '"Sensor data"');
    }
  },
);

testUnless(
  cannotRun,
  "an executable has no permission that it does not need",
  async () => {
    using copy = await Folder.ofProject();
    const { path } = copy;
    await Deno.copyFile(
      "tests/helpers/permissions_probe.ts",
      `${path}/main.ts`,
    );
    const { code, stderr } = await compile(processor, path, { cwd: path });
    assertEquals(code, 0, stderr);
    using place = await Folder.create();
    const env = { HOME: place.path, TMPDIR: place.path };
    const probed = `${path}/datasensor-${processor}`;
    await using program = new Program(probed, [], { env });
    assertEquals(await probe(program), []);
    assertEquals(place.names(), []); // no code cache either
  },
);

testUnless(
  cannotRun ?? await lacksNamespaces() ?? await lacksCommand("setpriv"),
  "an executable needs no other file and no place to write",
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
    await program.listening();
    assertEquals(await (await get(program.url)).text(), '"Sensor data"');
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

/** Creates a cache of links to the entries of the user's, except one. */
async function linkCache(except: string) {
  const info = await output(Deno.execPath(), ["info", "--json"]);
  const { denoDir, npmCache } = JSON.parse(info.stdout);
  const cache = await Folder.create();
  for await (const { name } of Deno.readDir(denoDir)) {
    if (name === except) continue;
    await Deno.symlink(`${denoDir}/${name}`, `${cache.path}/${name}`);
  }
  return { cache, npmCache };
}

testUnless(
  cannotRun,
  "compile makes the same executable in another folder from files of another time",
  async () => {
    using copy = await Folder.ofProject();
    const { cache, npmCache } = await linkCache("npm");
    using _ = cache;
    const npm = `${cache.path}/npm`;
    // The fallback's package, if it is cached, with the current time
    const script = 'mkdir "$1" && cd "$0" && tar c */deno-std | tar xm -C "$1"';
    await output("sh", ["-c", script, npmCache, npm]);
    const options = { cwd: copy.path, env: { DENO_DIR: cache.path } };
    const { stderr } = await compile(processor, "a/b", options);
    const made = `${copy.path}/a/b/datasensor-${processor}`;
    assertEquals(await digest(made), await digest(file), stderr);
  },
);

/** Runs tests of the program against the executable. */
async function testProgram(name: string, ...args: string[]): Promise<void> {
  const run = ["task", "-q", "test", `tests/program/${name}`, ...args];
  const env = { DATASENSOR_EXECUTABLE: file };
  const { code, stdout } = await output(Deno.execPath(), run, { env });
  assertEquals(code, 0, stdout);
}

testUnless(
  cannotRun,
  "an executable runs while its standard error is full",
  () => testProgram("stderr_test.ts", "--filter=stops while"),
);

const flood = "an executable answers while clients hold all connections";
if (isTooOld(COMPILER_VERSION)) {
  skip(flood, `Deno ${COMPILER_VERSION}, with which it is made, is too old`);
} else {
  testUnless(
    cannotRun,
    flood,
    () => testProgram("flood_test.ts", "--filter=the program answers"),
  );
}

Deno.test("compile leaves nothing when it is stopped", async () => {
  using place = await Folder.create();
  const args = ["task", "-q", "compile", "--output-dir", place.path];
  const options = { startsOthers: true };
  await using process = new Process(Deno.execPath(), args, options);
  await process.waitFor(() => place.names().length > 0);
  assertEquals((await process.stop("SIGINT")).code, 1);
  assertEquals(process.stderr.trim().split("\n").at(-1), "Stopped by SIGINT");
  assertEquals(place.names(), []);
});

/** Asserts that the task `compile` fails and leaves an earlier executable. */
async function assertRefuses(message: string, variables: string[], cwd = ".") {
  using place = await Folder.create();
  const earlier = `${place.path}/datasensor-aarch64`;
  await Deno.writeTextFile(earlier, "an earlier executable");
  const run = [Deno.execPath(), "task", "-q", "compile", "--output-dir"];
  const args = ["-u", "DENORT_BIN", ...variables, ...run, place.path];
  const { code, stdout, stderr } = await output("env", args, { cwd });
  assertEquals([code, stdout], [1, ""]);
  assertEquals(stderr.trim().split("\n").slice(-2), [
    `Compiling ${earlier} with Deno ${Deno.version.deno}`,
    message,
  ]);
  assertEquals(await Deno.readTextFile(earlier), "an earlier executable");
  assertEquals(place.names(), ["datasensor-aarch64"]);
}

Deno.test("compile explains in one sentence that it cannot download denort", async () => {
  using cache = (await linkCache("dl")).cache;
  await assertRefuses(
    "Cannot download denort-aarch64-unknown-linux-gnu for Deno " +
      `${Deno.version.deno}: set DENORT_BIN to a copy of it`,
    [`DENO_DIR=${cache.path}`, "HTTPS_PROXY=http://127.0.0.1:9"],
  );
});

testUnless(
  Deno.build.arch === "x86_64"
    ? undefined
    : "only the segments of Deno for x86_64 share large pages",
  "compile refuses an executable that does not fit large pages",
  async () => {
    using project = await Folder.ofProject();
    await Deno.symlink(Deno.execPath(), `${project.path}/denort`);
    await assertRefuses(
      "The executable would crash where memory pages are larger than 4 KB, " +
        "as on a Raspberry Pi 5: use another version of Deno than " +
        Deno.version.deno,
      ["DENORT_BIN=denort"], // is relative to the project
      project.path,
    );
  },
);
