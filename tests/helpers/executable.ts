// Compiles the executables. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import { type Output, output, type ProcessOptions } from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** Returns the version of Deno that compiles the executables. */
export async function compilerVersion(): Promise<string> {
  return (await output(COMPILER, ["--version"])).stdout.split(" ")[1]!;
}

/** Compiles the executable for a processor into a folder, as users do. */
export function compile(
  processor: "aarch64" | "x86_64",
  into: string,
  options: ProcessOptions = {},
): Promise<Output> {
  const task = processor === "aarch64" ? "compile" : "compile:x86_64";
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = { ...denort && { DENORT_BIN: denort }, ...options.env };
  // npm users type "--" before flags
  const args = ["task", "-q", task, "--", "--output-dir", into];
  return output(COMPILER, args, { ...options, env });
}
