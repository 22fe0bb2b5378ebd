// Finds out what this machine offers, and what a process uses. The functions
// missing…() return what is missing, as a sentence that says what to do, or nothing.

import { output } from "./process.ts";

/** The Debian packages of the commands that are not named like their package. */
const PACKAGES: Record<string, string> = {
  "avahi-browse": "avahi-utils",
  "collectd": "collectd-core",
  "dbus-daemon": "dbus",
  "depmod": "kmod",
  "dpkg-deb": "dpkg",
  "ip": "iproute2",
  "localedef": "locales",
  "mke2fs": "e2fsprogs",
  "mkfifo": "coreutils",
  "mosquitto_pub": "mosquitto-clients",
  "mosquitto_sub": "mosquitto-clients",
  "nc": "netcat-openbsd",
  "promtool": "prometheus",
  "qemu-system-aarch64": "qemu-system-arm",
  "readelf": "binutils",
  "script": "bsdutils",
  "ssh": "openssh-client",
  "stdbuf": "coreutils",
  "systemd-analyze": "systemd",
  "systemd-nspawn": "systemd-container",
  "systemd-sysusers": "systemd",
  "unshare": "util-linux",
  "xz": "xz-utils",
};

/**
 * Returns the options of a test that needs something. A word is a command, and a
 * sentence says what is missing. Without it, the test is skipped, or cannot be run in
 * CI, where everything must be installed.
 *
 * @example
 * Deno.test("curl reads it", needs("curl", missingAddress("::1")), async () => {});
 *
 * @throws {Error} If something is missing in CI.
 */
export function needs(...needed: (string | undefined)[]): { ignore: boolean } {
  const reasons = needed.map((it) =>
    it?.includes(" ") ? it : missingCommand(it)
  );
  const missing = reasons.find((reason) => reason !== undefined);
  if (missing && Deno.env.has("CI")) throw new Error(`To test, ${missing}`);
  return skipIf(missing);
}

/** Returns the options of a test that is skipped, even in CI, if there is a reason. */
export function skipIf(reason: string | undefined): { ignore: boolean } {
  if (reason !== undefined) reportSkipped(reason);
  return { ignore: reason !== undefined };
}

/** The reasons that tests of this file were skipped for. */
const reported = new Set<string>();

/** Prints why tests of this file are skipped or, in `deno task ok`, writes it to its list. */
function reportSkipped(reason: string): void {
  if (reported.has(reason)) return;
  reported.add(reason);
  const file = Deno.mainModule.replace(/.*\/tests\//, "tests/");
  const line = `Skipping tests of ${file}: ${reason}\n`;
  const list = Deno.env.get("DATASENSOR_SKIPPED");
  if (list) Deno.writeTextFileSync(list, line, { append: true });
  else Deno.stderr.writeSync(new TextEncoder().encode(line));
}

/** Tells which of some commands to install, if one is missing. */
export function missingCommand(...names: (string | undefined)[]) {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  const isInstalled = (name: string) =>
    folders.some((folder) => isFile(`${folder}/${name}`));
  const missing = names.find((name) => name && !isInstalled(name));
  if (missing) return `install ${PACKAGES[missing] ?? missing}`;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Whether there are /proc and /dev/full, which only Linux has. */
export const notLinux = Deno.build.os === "linux"
  ? undefined
  : "run it on Linux, which has /proc and /dev/full";

export function missingAddress(hostname: string, port = 0): string | undefined {
  try {
    Deno.listen({ hostname, port }).close();
  } catch (error) {
    return `let a program listen on ${hostname}, port ${port}: ${error}`;
  }
}

/** Tells whether namespaces can be created, as root. */
export function missingNamespaces(): string | undefined {
  const args = ["--mount", "--net", "true"];
  const missing = missingCommand("unshare");
  if (missing) return missing;
  const { success } = new Deno.Command("unshare", { args }).outputSync();
  if (!success) return "run it as root, where namespaces can be created";
}

/** Tells whether Python has a module of a Debian package. */
export function missingPythonModule(module: string, debian: string) {
  const missing = missingCommand("python3");
  if (missing) return missing;
  const args = ["-c", `import ${module}`];
  const { success } = new Deno.Command("python3", { args }).outputSync();
  if (!success) return `install ${debian}`;
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
