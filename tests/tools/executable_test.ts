// The executable for ARM, which Debian's qemu-user-static runs on a PC: that it works. The
// tests of the source show what the program does.

import { assertEquals } from "@std/assert";
import { COMPUTE_LIMIT_MS, make } from "../helpers/build.ts";
import { shell } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { testWith } from "../helpers/skip.ts";

/** Downloads Debian's libraries, after `dpkg --add-architecture arm64; apt-get update`. */
const DOWNLOAD =
  `mkdir -p "$0"; cd "$0"; chmod 777 . # apt-get becomes another user
  apt-get download -qq libc6:arm64 libgcc-s1:arm64
  for package in *.deb; do dpkg -x "$package" .; done`;

testWith("apt-get", "git", "qemu-aarch64-static")(
  "the executable for ARM serves a reading in an emulator, and stops",
  async () => {
    using project = await make("compile", "aarch64");
    const executable = `${project.path}/dist/datasensor-aarch64`;
    const libraries = `${project.path}/libraries`;
    await shell(DOWNLOAD, [libraries]);
    const flags = ["--port", "0", "--host", "127.0.0.1", "--stdin", "--json"];
    const args = ["-L", libraries, executable, ...flags];
    await using program = new Program("qemu-aarch64-static", args);
    await program.waitUntilListening(COMPUTE_LIMIT_MS);
    const reading = '{"temperature_C":21.5}';
    await program.write(`${reading}\n`);
    await program.waitForAnswer(reading, COMPUTE_LIMIT_MS);
    program.kill("SIGINT");
    assertEquals((await program.waitForEnd(COMPUTE_LIMIT_MS)).code, 0);
  },
);
