// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "./files.ts";
import {
  type Output,
  output,
  type ProcessOptions,
  PROXIES,
} from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** The oldest Deno that is supported. */
export const OLDEST_DENO = (await Deno.readTextFile(".dvmrc")).trim();

/** Returns the version of Deno that compiles the executables. */
export async function compilerVersion(): Promise<string> {
  return (await output(COMPILER, ["--version"])).stdout.split(" ")[1]!;
}

/** How long what computes may take, in ms: a build, lintian or a test in an emulator. */
export const COMPUTE_LIMIT_MS = 600_000;

/** Makes an executable or a package in a folder, as users do. */
export function make(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
  into: string,
  { umask = "022", ...options }: ProcessOptions & { umask?: string } = {},
): Promise<Output> {
  const denort = Deno.env.get(`DENORT_${processor.toUpperCase()}`);
  const bin = denort && { DENORT_BIN: denort };
  const env = { ...PROXIES, ...bin, ...options.env }; // it may download denort
  // npm users type "--" before flags
  const args = [
    "task",
    "-q",
    what,
    "--",
    `--target=${processor}`,
    "--output-dir",
    into,
  ];
  const run = ["-c", `umask ${umask}; exec "$0" "$@"`, COMPILER, ...args];
  return output("sh", run, { ...options, env }, COMPUTE_LIMIT_MS);
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
  if (code === 0) return;
  const reason = stderr.trim().split("\n").at(-1);
  const denort = `DENORT_${processor.toUpperCase()}`;
  return `set ${denort} and DENO_COMPILER, as .ci/run does (${reason})`;
}

/** The program's tests that run an executable, too. */
export const EXECUTABLE_TESTS = [
  "command_lines",
  "console",
  "head",
  "stdin",
  "terminal",
];

/** Asserts that an executable passes files of tests/program. */
export async function assertPasses(
  file: string,
  tests: string[],
  env: Record<string, string> = {},
): Promise<void> {
  const args = [
    ...["task", "-q", "test", "--filter=the program"],
    ...tests.map((name) => `tests/program/${name}_test.ts`),
  ];
  const options = { env: { ...env, DATASENSOR_EXECUTABLE: file } };
  const run = await output(Deno.execPath(), args, options, COMPUTE_LIMIT_MS);
  assertEquals(run.code, 0, run.stdout);
  assertMatch(run.stdout, /[1-9]\d* passed/); // the filter matches a test
}

/**
 * Asserts that executables have no unnecessary permissions and write no files.
 *
 * @param wrap A command that runs one that is for another processor.
 */
export async function assertConfined(
  processor: "aarch64" | "x86_64",
  wrap: string[] = [],
): Promise<void> {
  using project = await Folder.ofProject();
  const cwd = project.path;
  // Without the import of JSON, which keeps Deno from writing a code cache
  await Deno.copyFile("tests/helpers/permissions_probe.ts", `${cwd}/main.ts`);
  const { code, stderr } = await make("compile", processor, cwd, { cwd });
  assertEquals(code, 0, stderr);
  using place = await Folder.create();
  // Without HOME, as in a systemd unit
  const env = ["-u", "HOME", `TMPDIR=${place.path}`];
  const run = [...env, ...wrap, `${cwd}/datasensor-${processor}`];
  const { stdout } = await output("env", run, { cwd: place.path });
  assertEquals(stdout, "Permitted: nothing\n");
  assertEquals(place.names(), []);
}
