// What the machine has that runs the tests, and what it shows of a process.

import { output } from "./process.ts";

/** The environment variable that collects why tests of this run are left out. */
const LEFT_OUT = "DATASENSOR_TESTS_LEFT_OUT";

/**
 * Declares a test, or leaves it out for a reason, which its name tells. In CI
 * (`CI` is set) nothing is left out: the test fails with the reason.
 */
export function testUnless(
  reason: string | undefined,
  name: string,
  fn: (test: Deno.TestContext) => Promise<void>,
): void {
  if (reason === undefined) return Deno.test(name, fn);
  if (Deno.env.has("CI")) {
    return Deno.test(name, () => {
      throw new Error(`It cannot be run: ${reason}`);
    });
  }
  // All test files run in one process, one after the other
  Deno.env.set(LEFT_OUT, JSON.stringify([...reasons(), reason]));
  Deno.test({ name: `${name} (left out: ${reason})`, ignore: true, fn });
}

function reasons(): string[] {
  return JSON.parse(Deno.env.get(LEFT_OUT) ?? "[]");
}

/** Tells in one line how many tests were left out so far, and why. */
export function tellLeftOut(): string {
  const counts = new Map<string, number>();
  for (const reason of reasons()) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  Deno.env.delete(LEFT_OUT); // the next run under --watch begins anew
  const sum = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (sum === 0) return "no test was left out";
  const list = [...counts].map(([reason, count]) => `${count}: ${reason}`);
  return `${sum} ${sum > 1 ? "tests were" : "test was"} left out (${
    list.join("; ")
  })`;
}

/** The reason to leave a test out where a command is not installed. */
export async function lacksCommand(name: string): Promise<string | undefined> {
  const { code } = await output("sh", ["-c", 'command -v "$0"', name]);
  return code === 0 ? undefined : `${name} is not installed`;
}

/** The reason to skip a test where one of several commands is not installed. */
export async function lacksCommands(
  ...names: string[]
): Promise<string | undefined> {
  const reasons = await Promise.all(names.map(lacksCommand));
  return reasons.find((reason) => reason !== undefined);
}

/** The reason to leave a test out where a file is not there. */
export async function lacksFile(path: string): Promise<string | undefined> {
  // Deno keeps some from everybody without --allow-all
  const { code } = await output("test", ["-e", path]);
  return code === 0 ? undefined : `this machine has no ${path}`;
}

/** The reason to leave a test out where an address is not this machine's. */
export function lacksAddress(hostname: string): string | undefined {
  return cannotListen({ hostname, port: 0 }, `this machine has no ${hostname}`);
}

/** The reason to leave a test out where another program uses a port. */
export function isTaken(port: number): string | undefined {
  return cannotListen({ port }, `another program uses port ${port}`);
}

function cannotListen(
  address: { hostname?: string; port: number },
  reason: string,
): string | undefined {
  try {
    Deno.listen(address).close();
  } catch {
    return reason;
  }
}

/** Returns the resident memory of a process, in MB (10^6 bytes). */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await output("grep", ["VmRSS", `/proc/${pid}/status`]);
  return Number(stdout.match(/(\d+) kB/)![1]) * 1024 / 1e6;
}

/**
 * Returns how many file descriptors a process has open.
 *
 * @throws {Error} If it cannot be known, as when the process has ended.
 */
export async function countDescriptors(pid: number): Promise<number> {
  const { code, stdout, stderr } = await output("ls", [`/proc/${pid}/fd`]);
  const count = stdout.split("\n").length - 1;
  if (code !== 0 || count === 0) throw new Error(`Cannot count: ${stderr}`);
  return count;
}

/** The reason to skip a test where a process cannot have its own mounts and network. */
export async function lacksNamespaces(): Promise<string | undefined> {
  const { code } = await output("sh", ["-c", "unshare --mount --net true"]);
  return code === 0 ? undefined : "namespaces cannot be created here";
}
