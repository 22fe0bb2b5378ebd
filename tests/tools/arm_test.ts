// The executable for ARM, and the program on a Deno for ARM, which Debian's
// qemu-user-static runs on a PC.

import {
  assertConfined,
  assertServes,
  COMPUTE_LIMIT_MS,
  makeFromCommit,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { getDenoFlags } from "../helpers/program.ts";

const project = await Folder.ofProject();
globalThis.addEventListener("unload", () => project.remove());
const LIBRARIES = `${project.path}/libraries`;
const EMULATOR = ["qemu-aarch64-static", "-L", LIBRARIES];
const DENO = Deno.env.get("DENO_AARCH64");

/** Downloads Debian's libraries for ARM. Returns what is missing, if that fails. */
async function downloadLibraries(): Promise<string | undefined> {
  const script =
    `mkdir "$0"; cd "$0"; chmod 777 . # apt-get becomes another user
    apt-get download -qq libc6:arm64 libgcc-s1:arm64
    for package in *.deb; do dpkg -x "$package" .; done`;
  const { code } = await output("sh", ["-ec", script, LIBRARIES]);
  if (code !== 0) return "run dpkg --add-architecture arm64 and apt-get update";
}

const missing = missingCommand("apt-get", EMULATOR[0]!) ??
  await downloadLibraries();

Deno.test(
  "the executable for ARM starts, answers and stops",
  needs({
    missing: [
      missing ?? await makeFromCommit("compile", "aarch64", project),
    ],
  }),
  async () => {
    const file = `${project.path}/dist/datasensor-aarch64`;
    await assertServes([...EMULATOR, file], COMPUTE_LIMIT_MS);
  },
);

Deno.test(
  "an executable for ARM has no unnecessary permissions, and writes no files",
  needs({ missing: [missing] }),
  () => assertConfined("aarch64", EMULATOR),
);

Deno.test(
  "the program starts, answers and stops on a Deno for ARM",
  needs({
    missing: [missing, DENO ? undefined : "set DENO_AARCH64, as .ci/run does"],
  }),
  async () => {
    const run = [DENO!, "run", ...getDenoFlags(), "main.ts"];
    await assertServes([...EMULATOR, ...run], COMPUTE_LIMIT_MS);
  },
);
