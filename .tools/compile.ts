// deno-lint-ignore-file no-console -- it prints to the console by design

// Compiles the service. The same sources, packages and Deno give the same
// executable: Deno embeds the modification times of the files, so it compiles
// copies whose times are fixed.

import { resolve } from "node:path";
import project from "../deno.json" with { type: "json" };
import { copy, finish, type Job, run, runTool } from "./build.ts";
import { adviseOnCertificates } from "./certificates.ts";
import { fitsLargePages, readDenoVersion, readProcessor } from "./elf.ts";
import { readVersion } from "./version.ts";

const deno = Deno.execPath();

/** The files that `deno compile` needs. */
const SOURCES = ["deno.lock", "main.ts", "src", ".tools/std"];

if (import.meta.main) {
  await runTool(async (job) => {
    const file = `${job.outputDir}/datasensor-${job.target}`;
    console.error(`Compiling ${file} with Deno ${Deno.version.deno}`);
    await finish(await compile(await readVersion(), job), file);
  });
}

/**
 * Compiles a version, and returns the executable.
 *
 * @throws {Error} If it cannot be compiled, or would not run.
 */
export async function compile(
  version: string,
  { folder, target, denoFlags }: Job,
): Promise<string> {
  if (denoFlags.some((flag) => flag.endsWith("/unavailable.ts"))) {
    throw new Error("The @std packages are not available");
  }
  for (const source of SOURCES) await copy(source, `${folder}/${source}`);
  const config = JSON.stringify({ ...project, version });
  await Deno.writeTextFile(`${folder}/deno.json`, config);
  await Deno.utime(`${folder}/deno.json`, 0, 0);
  const env: Record<string, string> = {};
  for (const name of ["DENO_DIR", "DENORT_BIN"]) {
    const path = Deno.env.get(name);
    if (path) env[name] = resolve(path); // it is used in another folder
  }
  const hasSubstitutes = denoFlags.some((it) => it.startsWith("--import-map="));
  if (hasSubstitutes) {
    env.DENO_DIR = `${folder}/cache`;
    await copySubstitutes(env.DENO_DIR);
  }
  const output = `${folder}/datasensor-${target}`;
  const args = [
    "compile",
    "--no-code-cache", // which the executable would write into the board's /tmp
    "--no-check", // deno task check does that: these flags limit V8's memory
    ...denoFlags,
    `--target=${target}-unknown-linux-gnu`,
    `--output=${output}`,
    "main.ts",
  ];
  await run(deno, args, { cwd: folder, env }).catch((error) => {
    throw explainDownload(error, target);
  });
  const bytes = await Deno.readFile(output);
  const processor = readProcessor(bytes);
  if (processor !== target) {
    throw new Error(
      `The executable is for ${processor}, not for ${target}: set DENORT_BIN to denort for ${target}`,
    );
  }
  const denort = readDenoVersion(bytes) ?? Deno.version.deno;
  if (denort !== Deno.version.deno) {
    throw new Error(
      `DENORT_BIN is of Deno ${denort}, and this is Deno ${Deno.version.deno}: set it to denort of the same version`,
    );
  }
  if (target === "aarch64" && !fitsLargePages(bytes)) {
    throw new Error(
      `The executable might crash where memory pages are larger than 4 KB, as on a Raspberry Pi 5: use another version of Deno than ${Deno.version.deno}`,
    );
  }
  if (hasSubstitutes) {
    console.log("Compiled with substitutes for @std from npm and .tools/std");
  }
  return output;
}

/** Copies npm's package into a cache in which its files get fixed times. */
async function copySubstitutes(cache: string): Promise<void> {
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

/**
 * Returns the error of `deno compile` or, if it could not download denort, one that
 * explains this in a sentence, with the remedies.
 */
function explainDownload(error: Error, processor: string): Error {
  const { message } = error;
  if (!/Setting up base binary|Failed to unpack/.test(message)) return error;
  // The last of its causes, which are indented or numbered
  const causes = message.matchAll(/^ {4}(?:\d+: )?(\S.*?)\.?$/gm);
  const reason = [...causes].at(-1)?.[1] ?? message;
  const remedies = ["unpack a copy and set DENORT_BIN to its denort"];
  const trust = adviseOnCertificates(reason);
  if (trust) remedies.unshift(trust);
  if (reason.includes("unpack")) {
    remedies.unshift("run `deno clean` to download it again");
  }
  const name = `denort-${processor}-unknown-linux-gnu.zip`;
  const url = `https://dl.deno.land/release/v${Deno.version.deno}/${name}`;
  return new Error(
    `Cannot download ${url}: ${reason}; ${remedies.join(", or ")}`,
  );
}
