// Compiles the executables into a folder of their own, and runs them.

import { assertEquals, assertMatch } from "@std/assert";
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { compile, COMPILER_VERSION } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import {
  lacksAddress,
  lacksCommand,
  skip,
  testUnless,
} from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { FLAGS, probe, Program } from "../helpers/program.ts";
import project from "../../deno.json" with { type: "json" };

/** A processor, and its number in ELF files. */
const TARGETS = [
  { processor: "aarch64", machine: 183 },
  { processor: "x86_64", machine: 62 },
] as const;

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

const executables = await Promise.all(TARGETS.map(async (target) => {
  const { processor } = target;
  const file = `${folder.path}/datasensor-${processor}`;
  const native = Deno.build.os === "linux" && Deno.build.arch === processor;
  const emulator = native ? undefined : `qemu-${processor}-static`;
  const run = emulator ? [emulator, file] : [file];
  const made = await compile(processor, folder.path);
  const failed = made.code === 0
    ? undefined
    : `no executable for ${processor}: ${
      made.stderr.trim().split("\n").at(-1)
    }`;
  const cannotRun = failed ?? (emulator && await lacksCommand(emulator));
  return { target, file, run, made, failed, cannotRun, native };
}));

testUnless(
  executables[0]!.failed,
  "compile warns of a Deno that is too old",
  () => {
    const { stderr } = executables[0]!.made;
    const warning =
      `With Deno ${COMPILER_VERSION}, the service does not survive`;
    assertEquals(stderr.includes(warning), isTooOld(COMPILER_VERSION), stderr);
  },
);

async function digest(file: string): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const usesFallback = FLAGS.some((flag) => flag.startsWith("--import-map"));
const FALLBACK_NOTICE = "@std comes from npm and .tools/std, not from jsr.io";

for (const { target, file, run, made, failed, cannotRun } of executables) {
  const name = `the ${target.processor} executable`;

  testUnless(failed, `${name} comes with its size and digest`, async () => {
    const { size } = await Deno.stat(file);
    const lines = [`${file}: ${size} bytes`, `SHA-256 ${await digest(file)}`];
    if (usesFallback) lines.push(FALLBACK_NOTICE);
    assertEquals(made.stdout, lines.map((line) => `${line}\n`).join(""));
  });

  testUnless(failed, `${name} is for that processor`, async () => {
    using opened = await Deno.open(file);
    const header = new Uint8Array(20);
    await opened.read(header);
    assertEquals(new TextDecoder().decode(header.slice(0, 4)), "\x7fELF");
    const machine = new DataView(header.buffer).getUint16(18, true);
    assertEquals(machine, target.machine);
  });

  testUnless(cannotRun, `${name} answers, logs and stops`, async () => {
    const [first, ...others] = [...run, "--port", "0"];
    await using program = new Program(first!, others);
    await program.listening();
    assertMatch(program.stdout, /^ \* Debug mode: on\n \* Running on all/);
    const response = await get(program.url);
    assertEquals(response.status, 200);
    assertEquals(await response.text(), '"Sensor data"');
    const head = await get(program.url, { method: "HEAD" });
    assertEquals(head.headers.get("content-length"), "13");
    assertEquals(await head.text(), "");
    const other = await get(`${program.origin}/other`);
    assertEquals(other.status, 404);
    await other.body?.cancel();
    const status = await program.stop("SIGTERM");
    assertEquals(status.code, 0);
    assertEquals(program.stderr, "");
    assertEquals(
      program.lines.map((line) => line.replace(/^.*\] /, "")),
      [
        '"GET /datasensor HTTP/1.1" 200 -',
        '"HEAD /datasensor HTTP/1.1" 200 -',
        '"GET /other HTTP/1.1" 404 -',
      ],
    );
  });

  testUnless(cannotRun, `${name} reads a line from a pipe`, async () => {
    const input = 'exec "$@" <<END\n21.5 °C\nEND\n'; // a pipe, for sh
    const args = ["-c", input, "sh", ...run, "--port", "0", "--stdin"];
    await using program = new Program("sh", args);
    await program.waitForLines(1); // the input has ended
    const response = await get(program.url);
    assertEquals(await response.text(), '"21.5 °C"');
  });

  testUnless(
    cannotRun,
    `${name} knows --version, and refuses an address without permission`,
    async () => {
      const [first, ...others] = run;
      const [version, refusal] = await Promise.all([
        output(first!, [...others, "--version"]),
        output(first!, [...others, "--host", "192.0.2.7"]),
      ]);
      assertEquals([version.code, version.stdout], [0, `${project.version}\n`]);
      assertEquals([refusal.code, refusal.stdout], [2, ""]);
      assertMatch(refusal.stderr, /^--host takes .*, not "192\.0\.2\.7"\n/);
    },
  );
}

const { target, file, cannotRun } = executables.find(({ native }) => native) ??
  { ...executables[0]!, cannotRun: "no executable is for this machine" };

testUnless(
  cannotRun,
  "an executable knows --help and wrong usage",
  async () => {
    const [help, wrong] = await Promise.all(
      ["--help", "--foo"].map((flag) => output(file, [flag])),
    );
    assertEquals(help!.code, 0);
    assertMatch(help!.stdout, /^Usage: datasensor/);
    assertEquals([wrong!.code, wrong!.stdout], [2, ""]);
    assertMatch(wrong!.stderr, /^Unknown flag "--foo"\n/);
  },
);

testUnless(
  cannotRun ?? lacksAddress("::1"),
  "an executable listens on every address that --host offers",
  async () => {
    for (const host of ["::", "127.0.0.1", "::1", "localhost"]) {
      await using program = new Program(file, ["--port", "0", "--host", host]);
      await program.listening();
      const response = await get(program.url);
      assertEquals(await response.text(), '"Sensor data"');
    }
  },
);

testUnless(cannotRun, "an executable can do nothing but answer", async () => {
  using copy = await Folder.ofProject();
  const main = `${copy.path}/main.ts`;
  await Deno.copyFile("tests/helpers/permissions_probe.ts", main);
  const { code, stderr } = await compile(target.processor, copy.path, {
    cwd: copy.path,
  });
  assertEquals(code, 0, stderr);
  using place = await Folder.create();
  const env = { HOME: place.path, TMPDIR: place.path };
  const probed = `${copy.path}/datasensor-${target.processor}`;
  await using program = new Program(probed, [], { env });
  assertEquals(await probe(program), []);
  assertEquals(place.names(), []); // no code cache either
});

testUnless(
  cannotRun ?? await lacksNamespaces(),
  "an executable needs nothing of the file system but itself",
  async () => {
    // Nobody, in an empty folder, without a HOME or a place to write
    await using program = new Program("unshare", [
      "--mount",
      "sh",
      "-ec",
      `mount -t tmpfs -o mode=755 tmpfs /mnt
      mkdir /mnt/empty
      cp "$1" /mnt/datasensor
      mount -o remount,ro /mnt
      mount -t tmpfs -o ro tmpfs /tmp
      cd /mnt/empty
      exec env -i setpriv --reuid=65534 --regid=65534 --clear-groups \\
        --no-new-privs /mnt/datasensor --port 0`,
      "sh",
      file,
    ]);
    await program.listening();
    const response = await get(program.url);
    assertEquals(await response.text(), '"Sensor data"');
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

async function lacksNamespaces(): Promise<string | undefined> {
  const missing = await lacksCommand("unshare") ??
    await lacksCommand("setpriv");
  if (missing) return missing;
  const { code } = await output("unshare", ["--mount", "true"]);
  return code === 0 ? undefined : "a file system of its own takes root";
}

/** Creates a cache that has links to what is in the user's, except a name. */
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
  "compile makes the same executable of files with other times in another folder",
  async () => {
    using copy = await Folder.ofProject();
    const { cache, npmCache } = await linkCache("npm");
    using _ = cache;
    const npm = `${cache.path}/npm`;
    // The fallback's package, where it is cached, with its files' times as now
    const script = 'mkdir "$1" && cd "$0" && tar c */deno-std | tar xm -C "$1"';
    await output("sh", ["-c", script, npmCache, npm]);
    const env = { DENO_DIR: cache.path };
    const { stderr } = await compile(target.processor, "a/b", {
      cwd: copy.path,
      env,
    });
    const made = `${copy.path}/a/b/datasensor-${target.processor}`;
    assertEquals(await digest(made), await digest(file), stderr);
  },
);

const flood = "an executable answers while clients hold all connections";
if (isTooOld(COMPILER_VERSION)) {
  skip(flood, `Deno ${COMPILER_VERSION}, with which it is made, is too old`);
} else {
  testUnless(cannotRun, flood, async () => {
    const args = ["task", "-q", "test", "tests/program/flood_test.ts"];
    const env = { DATASENSOR_EXECUTABLE: file };
    const { code, stdout } = await output(Deno.execPath(), args, { env });
    assertEquals(code, 0, stdout);
  });
}

/** Asserts that the task `compile` fails and leaves an earlier executable. */
async function assertRefuses(
  message: string,
  variables: string[],
  project?: Folder,
) {
  using place = await Folder.create();
  const earlier = `${place.path}/datasensor-aarch64`;
  await Deno.writeTextFile(earlier, "an earlier executable");
  const run = [Deno.execPath(), "task", "-q", "compile", "--output-dir"];
  const args = ["-u", "DENORT_BIN", ...variables, ...run, place.path];
  const options = { cwd: project?.path };
  const { code, stdout, stderr } = await output("env", args, options);
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
      `${Deno.version.deno}: set DENORT_BIN to a file that contains it`,
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
      project,
    );
  },
);
