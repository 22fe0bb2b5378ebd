// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import { assertEquals } from "@std/assert";
import type { Folder } from "./files.ts";
import { type Output, output, type ProcessOptions } from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** Returns the version of Deno that compiles the executables. */
export async function compilerVersion(): Promise<string> {
  return (await output(COMPILER, ["--version"])).stdout.split(" ")[1]!;
}

/** How long a task may take, in ms, on a machine that runs two boards. */
const LIMIT_MS = 600_000;

/** Makes an executable or a package in a folder, as users do. */
export function make(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  into: string,
  { umask = "022", ...options }: ProcessOptions & { umask?: string } = {},
): Promise<Output> {
  const task = processor === "aarch64" ? what : `${what}:${processor}`;
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const env = { ...denort && { DENORT_BIN: denort }, ...options.env };
  // npm users type "--" before flags
  const args = ["task", "-q", task, "--", "--output-dir", into];
  const run = ["-c", `umask ${umask}; exec "$0" "$@"`, COMPILER, ...args];
  return output("sh", run, { ...options, env }, LIMIT_MS);
}

/** Variables of the tools, which must not change what they make. */
const VARIABLES = {
  OTEL_DENO: "true",
  DENO_COMPAT: "1",
  DENO_UNSTABLE_SLOPPY_IMPORTS: "1",
  DPKG_DEB_COMPRESSOR_LEVEL: "1",
};

/** The name of a folder, of which a shell would run parts. */
const NAME = 'it\'s "a" $(touch executed) `touch executed` #%41?';

/**
 * Makes the same as in a repository in a clone, with another name, dates, time zone
 * and variables, and returns its folder, too.
 */
export async function makeInClone(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  repository: Folder,
  into: Folder,
  env: Record<string, string> = {},
): Promise<Output & { folder: string }> {
  const cwd = `${into.path}/${NAME}`;
  const script = 'umask 077; git clone -q "$0" "$1"'; // the files' modes, too
  await output("sh", ["-c", script, repository.path, cwd]);
  const options = {
    cwd,
    env: {
      ...VARIABLES,
      TZ: "Pacific/Auckland",
      LC_ALL: "tr_TR.UTF-8",
      ...env,
    },
    umask: "077",
  };
  const result = await make(what, processor, "a/b", options);
  const { stdout } = await output("git", ["status", "--porcelain"], { cwd });
  assertEquals(stdout, "?? a/\n", "Something else was created");
  return { ...result, folder: `${cwd}/a/b` };
}
