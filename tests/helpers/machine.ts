// Finds out what this machine offers, and what a process uses. The functions
// missing…() return the reason to skip a test, if there is one.

import { output } from "./process.ts";

/** Declares a test, which is skipped if there is a reason, and fails in CI instead. */
export function testUnless(
  reason: string | undefined,
  name: string,
  fn: (test: Deno.TestContext) => void | Promise<void>,
): void {
  if (reason === undefined) return Deno.test(name, fn);
  if (!Deno.env.has("CI")) return skip(name, reason);
  Deno.test(name, () => {
    throw new Error(`Cannot run: ${reason}`);
  });
}

/** Skips a test, even in CI. `deno task ok` lists why; otherwise, the name says it. */
export function skip(name: string, reason: string): void {
  const list = Deno.env.get("DATASENSOR_SKIPPED");
  const line = Deno.mainModule.replace(/.*\/tests\//, "tests/") +
    `: ${reason}\n`;
  if (list) Deno.writeTextFileSync(list, line, { append: true });
  Deno.test.ignore(list ? name : `${name} (skipped: ${reason})`, () => {});
}

export async function missingCommand(...names: string[]) {
  for (const name of names) {
    const { code } = await output("sh", ["-c", 'command -v "$0"', name]);
    if (code !== 0) return `${name} is not installed`;
  }
}

/** The reason to skip a test that needs /proc or /dev/full. */
export const notLinux = Deno.build.os === "linux"
  ? undefined
  : "only Linux has /proc and /dev/full";

export function missingAddress(hostname: string, port = 0): string | undefined {
  try {
    Deno.listen({ hostname, port }).close();
  } catch (error) {
    return `cannot listen on ${hostname}: ${error}`;
  }
}

/** Returns the resident memory of a process, or its peak (VmHWM), in 10^6 bytes. */
export async function residentMemory(pid: number, field = "VmRSS") {
  const { stdout } = await output("grep", [field, `/proc/${pid}/status`]);
  return Number(stdout.match(/(\d+) kB/)![1]) * 1024 / 1e6;
}

export async function countDescriptors(pid: number): Promise<number> {
  const { code, stdout, stderr } = await output("ls", [`/proc/${pid}/fd`]);
  const count = stdout.split("\n").length - 1;
  if (code !== 0 || count === 0) throw new Error(`Cannot count: ${stderr}`);
  return count;
}

export async function missingNamespaces(): Promise<string | undefined> {
  const { code } = await output("sh", ["-c", "unshare --mount --net true"]);
  return code === 0 ? undefined : "namespaces cannot be created here";
}
