// Measures what a process uses.

import { output } from "./process.ts";

/** What to do without /proc and /dev/full. Deno does not show tests that there are any. */
export const missingProc = Deno.build.os === "linux"
  ? undefined
  : "run it on Linux, which has /proc and /dev/full";

/** Returns the resident memory of a process, or its peak (VmHWM), in 10^6 bytes. */
export async function residentMemory(
  pid: number,
  field = "VmRSS",
): Promise<number> {
  const { stdout } = await output("grep", [field, `/proc/${pid}/status`]);
  return Number(stdout.match(/(\d+) kB/)![1]) * 1024 / 1e6;
}

export async function countDescriptors(pid: number): Promise<number> {
  const { code, stdout, stderr } = await output("ls", [`/proc/${pid}/fd`]);
  const count = stdout.split("\n").length - 1;
  if (code !== 0 || count === 0) throw new Error(`Cannot count: ${stderr}`);
  return count;
}
