// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import {
  type Output,
  output,
  Process,
  type ProcessOptions,
} from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** Returns the version of Deno that compiles the executables. */
export async function compilerVersion(): Promise<string> {
  return (await output(COMPILER, ["--version"])).stdout.split(" ")[1]!;
}

/** How long a task may take, in ms, on a machine that runs two boards. */
const LIMIT_MS = 600_000;

/** The processors for which there are executables. */
export type Processor = "aarch64" | "x86_64";

/** Compiles the executable for a processor into a folder, as users do. */
export function compile(
  processor: Processor,
  into: string,
  options: ProcessOptions = {},
): Promise<Output> {
  return make("compile", processor, into, options);
}

/** Makes the package for a processor into a folder, as users do. */
export function makePackage(
  processor: Processor,
  into: string,
  options: ProcessOptions & { umask?: string } = {},
): Promise<Output> {
  return make("package", processor, into, options);
}

async function make(
  what: "compile" | "package",
  processor: Processor,
  into: string,
  { umask = "022", ...options }: ProcessOptions & { umask?: string },
): Promise<Output> {
  const task = processor === "aarch64" ? what : `${what}:${processor}`;
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = { ...denort && { DENORT_BIN: denort }, ...options.env };
  // npm users type "--" before flags
  const args = ["task", "-q", task, "--", "--output-dir", into];
  const run = ["-c", `umask ${umask}; exec "$0" "$@"`, COMPILER, ...args];
  await using process = new Process("sh", run, { ...options, env });
  const { code, signal } = await process.waitForEnd(LIMIT_MS);
  const { stdout, stderr } = process;
  return { code, signal, stdout, stderr };
}
