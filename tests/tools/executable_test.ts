// The executable for ARM, which Debian's qemu-user-static runs on a PC: that it works. The
// tests of the source show what the program does.

import { assertEquals } from "@std/assert";
import { COMPUTE_LIMIT_MS, makeFromCommit } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { getDenoFlags, Program } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";

const project = await Folder.ofProject();
globalThis.addEventListener("unload", () => project.remove());

const LIBRARIES = `${project.path}/dist/libraries`;
const EMULATOR = ["qemu-aarch64-static", "-L", LIBRARIES];
const DENO_AARCH64 = Deno.env.get("DENO_AARCH64");

const noLinux = Deno.build.os === "linux"
  ? missing("git")
  : "run it on Linux, for which the executables are";
const noEmulator = noLinux ?? missing("apt-get", EMULATOR[0]!) ??
  await downloadLibraries();

/** Downloads Debian's libraries for ARM. Returns what to do if that fails. */
async function downloadLibraries(): Promise<string | undefined> {
  const script =
    `mkdir -p "$0"; cd "$0"; chmod 777 . # apt-get becomes another user
    apt-get download -qq libc6:arm64 libgcc-s1:arm64
    for package in *.deb; do dpkg -x "$package" .; done`;
  const { code } = await output("sh", ["-ec", script, LIBRARIES]);
  if (code !== 0) return "run dpkg --add-architecture arm64 and apt-get update";
}

/** The largest memory page of a 64-bit ARM kernel. */
const PAGE_BYTES = 64 * 1024;

const EXECUTABLE = `${project.path}/dist/datasensor-aarch64`;
const unable = noEmulator ??
  await makeFromCommit("compile", "aarch64", project);

Deno.test(
  skipIf(
    unable,
    "the executable for ARM answers in an emulator with the fixed text or a reading, and stops",
  ),
  () => assertServes([...EMULATOR, EXECUTABLE]),
);

Deno.test(
  skipIf(
    unable ?? missing("readelf"),
    "the executable for ARM runs with memory pages of 64 KiB",
  ),
  async () => {
    const { stdout } = await output("readelf", ["-lW", EXECUTABLE]);
    // Type, offset, virtual and physical address, two sizes, flags, alignment
    const segments = stdout.match(/^ +LOAD .*$/gm)!.map((line) => {
      const [, offset, address, ...others] = line.trim().split(/\s+/);
      const shift = (Number(address) - Number(offset)) % PAGE_BYTES;
      return [shift, Number(others.at(-1))];
    });
    assertEquals(segments, segments.map(() => [0, PAGE_BYTES]));
  },
);

Deno.test(
  skipIf(
    noEmulator ??
      (DENO_AARCH64 ? undefined : "set DENO_AARCH64, as .ci/run does"),
    "the program answers and stops on a Deno for ARM in an emulator",
  ),
  () => {
    const run = [DENO_AARCH64!, "run", ...getDenoFlags(), "main.ts"];
    return assertServes([...EMULATOR, ...run]);
  },
);

/** Asserts that a command starts the program, which answers and stops. */
async function assertServes(command: string[]): Promise<void> {
  await assertAnswers(command, [], '"Sensor data"');
  const reading = '{"temperature_C":21.5}';
  await assertAnswers(command, ["--stdin", "--json"], reading, `${reading}\n`);
}

/** Asserts that the program answers after some input, perhaps none. */
async function assertAnswers(
  command: string[],
  flags: string[],
  answer: string,
  input = "",
): Promise<void> {
  const limit = COMPUTE_LIMIT_MS;
  const address = ["--port", "0", "--host", "127.0.0.1"];
  const [first, ...args] = [...command, ...address, ...flags];
  await using program = new Program(first!, args, { hasInput: true });
  await program.waitForMatch(/Press CTRL\+C/, limit);
  await program.write(input);
  await program.waitForAnswer(answer, limit);
  program.kill("SIGINT");
  assertEquals((await program.waitForEnd(limit)).code, 0);
}
