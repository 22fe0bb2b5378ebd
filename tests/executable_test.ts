// Compiles the executables with the README's tasks and runs them. What deno
// compile cannot download is given in the environment: DENORT_AARCH64 and
// DENORT_X86_64 name denort's files, DENO_COMPILER a deno of their version.

import { assertEquals, assertMatch } from "@std/assert";
import { FLAGS, isMissing, output, probe, Program } from "./helpers/program.ts";
import project from "../deno.json" with { type: "json" };

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** The environment in which a processor's executable is compiled. */
function compilerEnv(processor: string): Record<string, string> {
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  return denort === undefined ? {} : { DENORT_BIN: denort };
}

/** Compiles an executable, and tells how it is run or why it cannot be. */
async function compile(processor: "aarch64" | "x86_64") {
  const native = Deno.build.arch === processor;
  const emulator = native ? [] : [`qemu-${processor}-static`];
  if (!native && await isMissing(emulator[0]!)) {
    return { problem: `${emulator[0]} is not installed` };
  }
  const task = processor === "aarch64" ? "compile" : "compile:x86_64";
  const env = compilerEnv(processor);
  const made = await output(COMPILER, ["task", "-q", task], { env });
  const run = [...emulator, `dist/datasensor-${processor}`];
  if (made.code === 0) return { run, report: made.stdout };
  // In CI there is no excuse
  if (Deno.env.has("CI")) throw new Error(made.stderr);
  return { problem: made.stderr.trim() };
}

for (const processor of ["aarch64", "x86_64"] as const) {
  const { problem, run = [], report = "" } = await compile(processor);
  const [command = "", ...emulated] = run;
  const name = `the ${processor} executable`;
  const reason = problem ? ` (left out: ${problem})` : "";
  const test = (does: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name} ${does}${reason}`, ignore: !!problem, fn });

  test("comes with its size and digest", async () => {
    const file = `dist/datasensor-${processor}`;
    const [digest] = (await output("sha256sum", [file])).stdout.split(" ");
    const { size } = await Deno.stat(file);
    assertEquals(report, `${file}: ${size} bytes\nSHA-256 ${digest}\n`);
  });

  test("reports, answers, logs and stops", async () => {
    await using program = new Program(command, [...emulated, "--port", "0"]);
    await program.listening();
    assertMatch(program.stdout, /^ \* Debug mode: on\n \* Running on all/);
    for (const address of program.addresses) {
      const response = await fetch(`${address}/datasensor`);
      assertEquals(response.status, 200);
      assertEquals(await response.text(), '"Sensor data"');
    }
    const { origin, addresses } = program;
    const head = await fetch(`${origin}/datasensor`, { method: "HEAD" });
    assertEquals(head.headers.get("content-length"), "13");
    assertEquals(await head.text(), "");
    const other = await fetch(`${origin}/other`);
    assertEquals(other.status, 404);
    await other.body?.cancel();
    const status = await program.stop("SIGTERM");
    assertEquals(status.code, 0);
    assertEquals(program.stderr, "");
    assertEquals(
      program.lines.map((line) => line.replace(/^.*\] /, "")),
      [
        ...addresses.map(() => '"GET /datasensor HTTP/1.1" 200 -'),
        '"HEAD /datasensor HTTP/1.1" 200 -',
        '"GET /other HTTP/1.1" 404 -',
      ],
    );
  });

  test("listens on every address that --host offers", async () => {
    for (const host of ["::", "127.0.0.1", "::1", "localhost"]) {
      const args = [...emulated, "--port", "0", "--host", host];
      await using program = new Program(command, args);
      await program.listening();
      const response = await fetch(`${program.origin}/datasensor`);
      assertEquals(await response.text(), '"Sensor data"');
    }
  });

  test("refuses an address that its permissions do not allow", async () => {
    const args = [...emulated, "--host", "192.0.2.7"];
    const { code, stdout, stderr } = await output(command, args);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(
      stderr,
      /^Cannot listen on "192\.0\.2\.7".*permission.*\n.*\n$/,
    );
  });

  test("knows --version, --help and wrong usage", async () => {
    const version = await output(command, [...emulated, "--version"]);
    assertEquals([version.code, version.stdout], [0, `${project.version}\n`]);
    const help = await output(command, [...emulated, "--help"]);
    assertEquals([help.code, help.stdout.slice(0, 17)], [
      0,
      "Usage: datasensor",
    ]);
    const wrong = await output(command, [...emulated, "--foo"]);
    assertEquals([wrong.code, wrong.stdout], [2, ""]);
    assertMatch(wrong.stderr, /^Unknown flag "--foo"\n/);
  });
}

const NATIVE = `dist/datasensor-${Deno.build.arch}`;
const compiled = await Deno.stat(NATIVE).then(() => true, () => false);

Deno.test({
  name: "an executable can do nothing but answer (needs denort)",
  ignore: !compiled,
  fn: async () => {
    const file = "dist/permissions_probe";
    const args = ["compile", ...FLAGS, "--output", file];
    const env = compilerEnv(Deno.build.arch);
    const made = await output(
      COMPILER,
      [...args, "tests/helpers/permissions_probe.ts"],
      { env },
    );
    assertEquals([made.code, made.stderr], [0, ""]);
    await using program = new Program(file, []);
    assertEquals(await probe(program), []);
  },
});

Deno.test("compile says in one sentence that it cannot download denort", async () => {
  const info = await output(Deno.execPath(), ["info", "--json"]);
  const { denoDir } = JSON.parse(info.stdout);
  // All that is cached but for denort, and a proxy that does not answer
  const cache = await Deno.makeTempDir();
  try {
    for await (const { name } of Deno.readDir(denoDir)) {
      if (name === "dl") continue;
      await Deno.symlink(`${denoDir}/${name}`, `${cache}/${name}`);
    }
    const { code, stderr } = await output(
      Deno.execPath(),
      ["task", "-q", "compile"],
      { env: { DENO_DIR: cache, HTTPS_PROXY: "http://127.0.0.1:9" } },
    );
    assertEquals([code, stderr.trim().split("\n").at(-1)], [
      1,
      `Cannot download denort for Deno ${Deno.version.deno}, of which the ` +
      "executable is made: name a file that holds it in DENORT_BIN",
    ]);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});

Deno.test({
  name: "an executable needs nothing of the file system but itself " +
    "(needs denort, and root for a namespace)",
  ignore: !compiled || (Deno.uid() !== 0 && !Deno.env.has("CI")),
  fn: async () => {
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
      NATIVE,
    ]);
    await program.listening();
    const response = await fetch(`${program.origin}/datasensor`);
    assertEquals(await response.text(), '"Sensor data"');
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
});
