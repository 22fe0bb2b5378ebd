// Makes the executables and packages, as users do. If deno compile cannot download denort, set
// DENORT_AARCH64 and DENORT_X86_64 to copies of it, and DENO_COMPILER to a deno of the same
// version, as .ci/run does.

import { Folder } from "./files.ts";
import { PROXIES, shell } from "./process.ts";

const COMPILER = Deno.env.get("DENO_COMPILER") || Deno.execPath();

/** How long what computes may take, in ms: a build, lintian or a program in an emulator. */
export const COMPUTE_LIMIT_MS = 600_000;

/** Makes an executable or a package in the folder `dist` of a new clone. */
export async function make(
  what: "compile" | "package",
  processor: "aarch64" | "x86_64",
): Promise<Folder> {
  const project = await Folder.ofProject();
  await project.commit();
  const DENORT_BIN = Deno.env.get(`DENORT_${processor.toUpperCase()}`) ?? "";
  const PATH = `${COMPILER.replace(/[^/]*$/, "")}:${Deno.env.get("PATH")}`;
  const env = { ...PROXIES, DENORT_BIN, PATH }; // it may download denort
  // npm users type "--" before flags
  const args = ["task", "-q", what, "--", `--target=${processor}`];
  const options = { cwd: project.path, env };
  await shell('exec deno "$@"', ["sh", ...args], options, COMPUTE_LIMIT_MS);
  return project;
}
