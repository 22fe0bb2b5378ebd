// The version of what the tools make.

import project from "../deno.json" with { type: "json" };
import { run } from "./build.ts";

/** The files and folders that become part of the executable or the package. */
export const BUILT = [
  "README.md",
  "deno.json",
  "deno.lock",
  "main.ts",
  "src",
  ".tools",
];

/** Runs git, but not for a repository that contains this folder, as a home may. */
function git(...args: string[]): Promise<string> {
  return run("git", ["--git-dir=.git", ...args]);
}

/** Returns the files in a folder that git ignores, such as those of an editor. */
export async function listIgnored(folder: string): Promise<string[]> {
  const args = ["-z", "--others", "--ignored", "--exclude-standard"];
  const files = await git("ls-files", ...args, "--", folder).catch(() => "");
  return files.split("\0").filter(Boolean);
}

/**
 * Returns the version in deno.json with the time and hash of the commit, such as
 * 1.0.0+20261122162959.412f425: to apt, a later commit is newer. After a change that
 * is not committed, the time is the current one, without a hash. Outside a clone, only
 * the version in deno.json is known.
 *
 * @throws {Error} If git cannot read the clone: without the time, apt would take the
 * package for an older one.
 */
export async function readVersion(): Promise<string> {
  const isClone = await Deno.stat(".git").then(() => true, () => false);
  if (!isClone) return project.version;
  const status = ["status", "--porcelain", "--untracked-files=normal"];
  const changes = await git(...status, "--", ...BUILT).catch((error) => {
    throw new Error(`git cannot tell the version: ${error.message}`);
  });
  const [seconds, hash] = changes
    ? [Date.now() / 1000, ""]
    : (await git("rev-list", "--timestamp", "-1", "HEAD")).split(" ");
  const time = new Date(Number(seconds) * 1000).toISOString();
  const digits = time.replace(/\D/g, "").slice(0, 14);
  return `${project.version}+${digits}${hash && `.${hash.slice(0, 7)}`}`;
}
