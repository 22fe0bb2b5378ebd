// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import type { Folder } from "./files.ts";
import {
  type Output,
  output,
  type ProcessOptions,
  PROXIES,
} from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** How long what computes may take, in ms: a build, lintian or a program in an emulator. */
export const COMPUTE_LIMIT_MS = 600_000;

/** Makes an executable or a package in a folder, as users do. */
export function make(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  into: string,
  options: ProcessOptions = {},
): Promise<Output> {
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const bin = denort && { DENORT_BIN: denort };
  const PATH = `${COMPILER.replace(/[^/]*$/, "")}:${Deno.env.get("PATH")}`;
  const env = { ...PROXIES, ...bin, PATH, ...options.env }; // it may download denort
  const flags = [`--target=${processor}`, "--output-dir", into];
  // npm users type "--" before flags
  const args = ["task", "-q", what, "--", ...flags];
  return output("deno", args, { ...options, env }, COMPUTE_LIMIT_MS);
}

/**
 * Commits a project, and makes an executable or a package in its folder `dist`.
 *
 * @returns What to do if Deno cannot download denort.
 *
 * @throws {Error} If it fails for another reason.
 */
export async function makeFromCommit(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  project: Folder,
): Promise<string | undefined> {
  await project.commit();
  const options = { cwd: project.path };
  const { code, stderr } = await make(what, processor, "dist", options);
  if (code === 0) return;
  if (!stderr.includes("Setting up base binary")) throw new Error(stderr);
  const denort = `DENORT_${processor.toUpperCase()}`;
  return `set ${denort} and DENO_COMPILER, as .ci/run does`;
}
