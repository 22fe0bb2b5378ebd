// deno-lint-ignore-file no-console -- it prints to the console by design

// Compiles the service. The same sources, packages and Deno give the same
// executable: Deno embeds the modification times of the files, so it compiles
// copies whose times are fixed.

import { resolve } from "node:path";
import { VERSION } from "../src/process/command_line.ts";
import { copy, finish, parseFlags, run, runTool, withFolder } from "./build.ts";
import { assertDenort, explainDownload } from "./denort.ts";
import { fitsLargePages } from "./elf.ts";

const deno = Deno.execPath();

/** The files that `deno compile` needs. */
const SOURCES = ["deno.json", "deno.lock", "main.ts", "src", ".tools/std"];

await runTool(async () => {
  const options = parseFlags();
  const { target, "output-dir": outputDir } = options;
  const flags = options["deno-flags"].split(" ").filter(Boolean);
  const file = `${outputDir}/datasensor-${target}`;
  console.error(`Compiling ${file} with Deno ${Deno.version.deno}`);
  const denort = Deno.env.get("DENORT_BIN");
  if (denort) await assertDenort(denort, target);
  await withFolder(outputDir, async (folder) => {
    const output = await compile(folder, target, flags);
    if (target === "aarch64" && !fitsLargePages(await Deno.readFile(output))) {
      throw new Error(
        `The executable might crash where memory pages are larger than 4 KB, as on a Raspberry Pi 5: use another version of Deno than ${Deno.version.deno}`,
      );
    }
    if (Deno.build.os === "linux" && Deno.build.arch === target) {
      await assertRuns(output);
    }
    await finish(output, file);
    if (fallbackFlags(flags).length > 0) {
      console.log("Compiled with substitutes for @std from npm and .tools/std");
    }
  });
});

/** Compiles copies of the sources in a folder, and returns the executable. */
async function compile(
  folder: string,
  target: string,
  flags: string[],
): Promise<string> {
  for (const source of SOURCES) await copy(source, `${folder}/${source}`);
  const env: Record<string, string> = {};
  for (const name of ["DENO_DIR", "DENORT_BIN"]) {
    const path = Deno.env.get(name);
    if (path) env[name] = resolve(path); // it is used in another folder
  }
  const fallback = fallbackFlags(flags);
  if (fallback.length > 0) {
    env.DENO_DIR = `${folder}/cache`;
    await copyFallback(fallback, env.DENO_DIR);
  }
  const output = `${folder}/datasensor-${target}`;
  const args = [
    "compile",
    "--no-code-cache", // which the executable would write into the board's /tmp
    ...flags,
    `--target=${target}-unknown-linux-gnu`,
    `--output=${output}`,
    "main.ts",
  ];
  await run(deno, args, { cwd: folder, env }).catch((error) => {
    throw explainDownload(error, target);
  });
  return output;
}

/** Returns the flags that replace the `@std` packages of jsr.io. */
function fallbackFlags(flags: string[]): string[] {
  return flags.filter((flag) => /^--(import-map|lock)=/.test(flag));
}

/** Copies the fallback's package into a cache in which its files get fixed times. */
async function copyFallback(flags: string[], cache: string): Promise<void> {
  await run(deno, ["cache", ...flags, "main.ts"]);
  const { denoDir, npmCache } = JSON.parse(await run(deno, ["info", "--json"]));
  for await (const { name: registry } of Deno.readDir(npmCache)) {
    const path = `${registry}/deno-std`;
    const from = `${npmCache}/${path}`;
    const exists = await Deno.stat(from).then(() => true, () => false);
    if (exists) await copy(from, `${cache}/npm/${path}`);
  }
  // Deno keeps the downloaded denort there
  await Deno.mkdir(`${denoDir}/dl`, { recursive: true });
  await Deno.symlink(`${denoDir}/dl`, `${cache}/dl`);
}

/** Asserts that an executable for this machine runs. */
async function assertRuns(file: string): Promise<void> {
  const printed = await run(file, ["--version"])
    .catch((error: Error) => error.message);
  const [line] = printed.split("\n");
  if (line !== VERSION) {
    throw new Error(
      `The executable should print "${VERSION}" for --version, but prints "${line}"`,
    );
  }
}
