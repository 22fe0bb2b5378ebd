// Makes the executables and packages, as users do. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno of the same
// version, as .ci/run does.

import { Folder } from "./files.ts";
import { output, PROXIES, shell } from "./process.ts";
import { findMissing, type Test, testUnless } from "./skip.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** How long what computes may take, in ms: a build, lintian or a program in an emulator. */
export const COMPUTE_LIMIT_MS = 600_000;

/** Returns what defines tests that compile for both processors, as testWith() does. */
export async function testCompiling(...programs: string[]): Promise<Test> {
  const missing = findMissing(...programs);
  return testUnless(missing ?? await (compileError ??= findCompileError()));
}

let compileError: Promise<string | undefined> | undefined; // found out once

/** Returns what to do if nothing can be compiled. */
async function findCompileError(): Promise<string | undefined> {
  using folder = await Folder.create();
  await folder.write("empty.js", "");
  const target = "--target=x86_64-unknown-linux-gnu";
  const args = ["compile", "-q", target, "empty.js"];
  const options = { cwd: folder.path, env: compilerEnv("x86_64") };
  const { code } = await output(COMPILER, args, options, COMPUTE_LIMIT_MS);
  return code === 0
    ? undefined
    : "deno compile cannot download denort: set DENORT_X86_64 and DENORT_AARCH64 to copies of it";
}

/** Returns the variables with which `deno compile` may download denort, or need not. */
function compilerEnv(processor: "aarch64" | "x86_64") {
  const DENORT_BIN = Deno.env.get(`DENORT_${processor.toUpperCase()}`) ?? "";
  return { ...PROXIES, DENORT_BIN };
}

/** Makes an executable or a package in the folder `dist` of a new clone. */
export async function make(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
): Promise<Folder> {
  const project = await Folder.ofProject();
  await project.commit();
  const PATH = `${COMPILER.replace(/[^/]*$/, "")}:${Deno.env.get("PATH")}`;
  const env = { ...compilerEnv(processor), PATH };
  // npm users type "--" before flags
  const args = ["task", "-q", what, "--", `--target=${processor}`];
  const options = { cwd: project.path, env };
  await shell('exec deno "$@"', ["sh", ...args], options, COMPUTE_LIMIT_MS);
  return project;
}
