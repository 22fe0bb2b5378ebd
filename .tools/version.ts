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
  ".board",
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
 * is not committed, the time is the current one, without a hash. Without git, only
 * the version in deno.json is known.
 */
export async function readVersion(): Promise<string> {
  try {
    const status = ["status", "--porcelain", "--untracked-files=normal"];
    const changes = await git(...status, "--", ...BUILT);
    const [seconds, hash] = changes
      ? [Date.now() / 1000, ""]
      : (await git("rev-list", "--timestamp", "-1", "HEAD")).split(" ");
    const time = new Date(Number(seconds) * 1000).toISOString();
    const digits = time.replace(/\D/g, "").slice(0, 14);
    return `${project.version}+${digits}${hash && `.${hash.slice(0, 7)}`}`;
  } catch {
    return project.version;
  }
}
