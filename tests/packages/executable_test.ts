// Compiles the executables with the README's tasks, into a folder of their own,
// and runs them. What deno compile cannot download is given in the environment:
// DENORT_AARCH64 and DENORT_X86_64 name denort's files, DENO_COMPILER a deno of
// their version.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { lacksAddress, lacksCommand, testUnless } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { probe, Program } from "../helpers/program.ts";
import project from "../../deno.json" with { type: "json" };

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** A processor, the task that compiles for it, its number in ELF files. */
const TARGETS = [
  { processor: "aarch64", task: "compile", machine: 183 },
  { processor: "x86_64", task: "compile:x86_64", machine: 62 },
] as const;

type Target = typeof TARGETS[number];

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

/** Compiles an executable. */
function compile({ processor, task }: Target, into: string, cwd?: string) {
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = denort ? { DENORT_BIN: denort } : undefined;
  return output(COMPILER, ["task", "-q", task, into], { cwd, env });
}

const executables = await Promise.all(TARGETS.map(async (target) => {
  const { processor } = target;
  const file = `${folder.path}/datasensor-${processor}`;
  const native = Deno.build.os === "linux" && Deno.build.arch === processor;
  const emulator = native ? undefined : `qemu-${processor}-static`;
  const run = emulator ? [emulator, file] : [file];
  const made = await compile(target, folder.path);
  const failed = made.code === 0
    ? undefined
    : `no executable for ${processor}: ${made.stderr.trim()}`;
  const cannotRun = failed ?? (emulator && await lacksCommand(emulator));
  return { target, file, run, report: made.stdout, failed, cannotRun, native };
}));

for (const { target, file, run, report, failed, cannotRun } of executables) {
  const name = `the ${target.processor} executable`;

  testUnless(failed, `${name} comes with its size and digest`, async () => {
    const bytes = await Deno.readFile(file);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    const size = `${file}: ${bytes.length} bytes\n`;
    const hex = new Uint8Array(digest).toHex();
    assertEquals(report, `${size}SHA-256 ${hex}\n`);
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
    `${name} knows --version, and refuses an address that its permissions do not allow`,
    async () => {
      const [first, ...others] = run;
      const [version, refusal] = await Promise.all([
        output(first!, [...others, "--version"]),
        output(first!, [...others, "--host", "192.0.2.7"]),
      ]);
      assertEquals([version.code, version.stdout], [0, `${project.version}\n`]);
      assertEquals([refusal.code, refusal.stdout], [1, ""]);
      assertMatch(
        refusal.stderr,
        /^Cannot listen on "192\.0\.2\.7".*permission.*\n.*\n$/,
      );
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
  const { code, stderr } = await compile(target, copy.path, copy.path);
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

/** Runs the task `compile` where denort is not cached and nobody sends it. */
async function compileWithoutDenort(into: string) {
  const info = await output(Deno.execPath(), ["info", "--json"]);
  const { denoDir } = JSON.parse(info.stdout);
  using cache = await Folder.create();
  for await (const { name } of Deno.readDir(denoDir)) {
    if (name === "dl") continue;
    await Deno.symlink(`${denoDir}/${name}`, `${cache.path}/${name}`);
  }
  const env = { DENO_DIR: cache.path, HTTPS_PROXY: "http://127.0.0.1:9" };
  const run = [Deno.execPath(), "task", "-q", "compile", into];
  return await output("env", ["-u", "DENORT_BIN", ...run], { env });
}

Deno.test("compile says in one sentence that it cannot download denort, and leaves what there is", async () => {
  using place = await Folder.create();
  const earlier = `${place.path}/datasensor-aarch64`;
  await Deno.writeTextFile(earlier, "an earlier executable");
  const { code, stderr } = await compileWithoutDenort(place.path);
  assertEquals(code, 1);
  assertEquals(stderr.trim().split("\n").slice(-2), [
    `Compiling ${earlier} with Deno ${Deno.version.deno}`,
    "Cannot download denort-aarch64-unknown-linux-gnu of Deno " +
    `${Deno.version.deno}, of which the executable is made: name a file that ` +
    "holds it in DENORT_BIN",
  ]);
  assertEquals(await Deno.readTextFile(earlier), "an earlier executable");
  assertEquals(place.names(), ["datasensor-aarch64"]);
});
