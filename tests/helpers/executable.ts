// Compiles the executables. What deno compile cannot download is given in the
// environment: DENORT_AARCH64 and DENORT_X86_64 name denort's files,
// DENO_COMPILER a deno of their version.

import { type Output, output } from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** Runs the task that compiles for a processor, into a folder. */
export function compile(
  processor: "aarch64" | "x86_64",
  into: string,
  cwd?: string,
): Promise<Output> {
  const task = processor === "aarch64" ? "compile" : "compile:x86_64";
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = denort ? { DENORT_BIN: denort } : undefined;
  return output(COMPILER, ["task", "-q", task, into], { cwd, env });
}
