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

/**
 * Commits a project, and makes an executable or a package in its folder `dist`.
 *
 * @returns The reason if it fails.
 */
export async function makeFromCommit(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  project: Folder,
): Promise<string | undefined> {
  await project.commit("2026-11-22T17:29:59+01:00");
  const options = { cwd: project.path };
  const { code, stderr } = await make(what, processor, "dist", options);
  if (code !== 0) return `cannot ${what}: ${stderr.trim().split("\n").at(-1)}`;
}

/** Variables that could change what the tools make. */
const VARIABLES = {
  ...{ OTEL_DENO: "true", DENO_COMPAT: "1", DENO_UNSTABLE_SLOPPY_IMPORTS: "1" },
  ...{ DPKG_DEB_COMPRESSOR_LEVEL: "1", TZ: "Pacific/Auckland" },
  LC_ALL: "tr_TR.UTF-8",
};

/**
 * Makes the same in a clone with other dates and modes, whose name a shell would
 * run in part, and returns the folder, too.
 */
export async function makeInClone(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  { path }: Folder,
  place: Folder,
  env: Record<string, string> = {},
): Promise<Output & { folder: string }> {
  const cwd = `${place.path}/it's "a" $(touch x) \`touch x\` #%41?`;
  await output("sh", ["-c", 'umask 077; git clone -q "$0" "$1"', path, cwd]);
  const options = { cwd, env: { ...VARIABLES, ...env }, umask: "077" };
  const made = await make(what, processor, "a/b", options);
  const { stdout } = await output("git", ["status", "--porcelain"], { cwd });
  assertEquals(stdout, "?? a/\n"); // and no x
  return { ...made, folder: `${cwd}/a/b` };
}
