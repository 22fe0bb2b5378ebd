// Makes the executables and packages. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno
// of the same version.

import { assert, assertEquals } from "@std/assert";
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
    const client = new Client(program, limit);
    await program.waitForMatch(/Press CTRL\+C/, limit);
    await client.waitFor("the fixed text", /^200 "Sensor data"$/);
    await client.assertLogged();
    program.kill("SIGINT");
    assertEquals((await program.waitForEnd(limit)).code, 0);
  }
  const options = ["--port", "0", "--stdin", "--json", "--max-age", "5"];
  const sensor = { hasInput: true };
  await using program = new Program(command!, [...args, ...options], sensor);
  const client = new Client(program, limit);
  await program.waitForMatch(/Press CTRL\+C/, limit);
  const measure = () => program.write('{"temperature_C":21.5}\n');
  await client.waitFor("a reading", /^200 {"temperature_C":21.5}$/, measure);
  await client.waitFor("a 503", /^503 .* the limit is 5 s/);
  await client.assertLogged();
  program.kill("SIGINT");
  assertEquals((await program.waitForEnd(limit)).code, 0);
}

/** Asks a program, which may close connections: in an emulator, it takes too much memory. */
class Client {
  #asked = 0;
  #answered = 0;

  constructor(readonly program: Program, readonly limit: number) {}

  /** Asks until the status and the body match a pattern, each time after an action. */
  async waitFor(
    what: string,
    pattern: RegExp,
    before = () => Promise.resolve(),
  ): Promise<void> {
    const ask = async () => {
      await before();
      return await this.#ask().catch(String);
    };
    const isExpected = (answer: string) => pattern.test(answer);
    await waitFor(what, ask, isExpected, { limit: this.limit, pause: 200 });
  }

  async #ask(): Promise<string> {
    this.#asked++;
    const signal = AbortSignal.timeout(this.limit);
    const response = await get(this.program.url, { signal });
    const answer = `${response.status} ${await response.text()}`;
    this.#answered++;
    return answer;
  }

  /** Asserts that each request is logged once; of those without an answer, nobody knows. */
  async assertLogged(): Promise<void> {
    const count = () => this.program.requests.length;
    const { limit } = this;
    const areLogged = (lines: number) => lines >= this.#answered;
    await waitFor(`${this.#answered} lines`, count, areLogged, { limit });
    assert(count() <= this.#asked, `${count()} lines for ${this.#asked}`);
  }
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
