// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import { assertEquals } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { Folder } from "./files.ts";
import { get } from "./network.ts";
import {
  type Output,
  output,
  type ProcessOptions,
  PROXIES,
} from "./process.ts";
import { Program } from "./program.ts";
import { DEADLINE_MS, waitFor } from "./wait.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** The oldest Deno that is supported. */
export const OLDEST_DENO = (await Deno.readTextFile(".dvmrc")).trim();

/** How long what computes may take, in ms: a build, lintian or a program in an emulator. */
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

/**
 * Asserts that a command runs the program: it starts, answers, logs, tells how old a
 * reading is, and stops. The tests of the source show the rest.
 *
 * @param limit How long anything may take, in ms.
 */
export async function assertServes(
  [command, ...args]: string[],
  limit = DEADLINE_MS,
): Promise<void> {
  const help = await output(command!, [...args, "--help"], {}, limit);
  assertEquals([help.code, help.stdout], [0, `${HELP}\n`]);
  {
    const options = ["--port", "0", "--host", "127.0.0.1"];
    await using program = new Program(command!, [...args, ...options]);
    await program.waitForMatch(/Press CTRL\+C/, limit);
    assertEquals(await read(program, limit), '200 "Sensor data"');
    await waitFor("a log line", () => program.requests[0], Boolean, { limit });
    program.kill("SIGINT");
    assertEquals((await program.waitForEnd(limit)).code, 0);
    assertEquals(program.requests.length, 1);
  }
  const options = ["--port", "0", "--stdin", "--json", "--max-age", "5"];
  const sensor = { hasInput: true };
  await using program = new Program(command!, [...args, ...options], sensor);
  await program.waitForMatch(/Press CTRL\+C/, limit);
  let requests = 0;
  const answer = () => {
    requests++;
    return read(program, limit);
  };
  const measure = async () => {
    await program.write('{"temperature_C":21.5}\n');
    return await answer();
  };
  const isServed = (it: string) => it === '200 {"temperature_C":21.5}';
  await waitFor("a reading", measure, isServed, { limit, pause: 200 });
  const isTooOld = (it: string) => /^503 .* the limit is 5 s/.test(it);
  await waitFor("a 503", answer, isTooOld, { limit, pause: 200 });
  const lines = () => program.requests.length;
  const areLogged = (count: number) => count === requests;
  await waitFor(`${requests} log lines`, lines, areLogged, { limit });
  program.kill("SIGINT");
  assertEquals((await program.waitForEnd(limit)).code, 0);
}

/** Returns the status and the body of an answer, which may take a limit in ms. */
async function read({ url }: Program, limit: number): Promise<string> {
  const response = await get(url, { signal: AbortSignal.timeout(limit) });
  return `${response.status} ${await response.text()}`;
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
  const options = { cwd: place.path };
  const { stdout } = await output("env", run, options, COMPUTE_LIMIT_MS);
  assertEquals(stdout, "Permitted: nothing\n");
  assertEquals(place.names(), []);
}
