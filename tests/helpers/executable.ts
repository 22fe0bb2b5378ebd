// Compiles the executables. Where deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to its files, and DENO_COMPILER to a deno of
// the same version.

import { type Output, output, type ProcessOptions } from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** The version of the Deno that compiles, which the executables contain. */
export const COMPILER_VERSION = (await output(COMPILER, ["--version"]))
  .stdout.split(" ")[1]!;

/** Runs the task that compiles for a processor, into a folder. */
export function compile(
  processor: "aarch64" | "x86_64",
  into: string,
  options: ProcessOptions = {},
): Promise<Output> {
  const task = processor === "aarch64" ? "compile" : "compile:x86_64";
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = { ...denort && { DENORT_BIN: denort }, ...options.env };
  // With the -- that npm needs before flags
  const args = ["task", "-q", task, "--", "--output-dir", into];
  return output(COMPILER, args, { ...options, env });
}
