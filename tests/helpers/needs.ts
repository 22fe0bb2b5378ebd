// Finds out what this machine offers, and skips the tests that need more. The functions
// missing…() return what is missing, as a sentence that says what to do, or nothing.

/** The Debian packages of the commands that are not named like their package. */
const PACKAGES: Record<string, string> = {
  "dpkg-deb": "dpkg",
  "ip": "iproute2",
  "mosquitto_pub": "mosquitto-clients",
  "mosquitto_sub": "mosquitto-clients",
  "promtool": "prometheus",
  "qemu-aarch64-static": "qemu-user-static",
  "readelf": "binutils",
  "script": "bsdutils",
  "ssh": "openssh-client",
  "systemd-analyze": "systemd",
  "systemd-nspawn": "systemd-container",
  "systemd-sysusers": "systemd",
};

/** What a test needs. */
export interface Needs {
  commands?: string[];
  /** What functions missing…() have returned. */
  missing?: (string | undefined)[];
}

/**
 * Returns the options of a test that needs something. Without it, the test is skipped,
 * or cannot be run in CI, where everything must be installed.
 *
 * @example
 * const options = needs({ commands: ["curl"], missing: [missingAddress("::1")] });
 * Deno.test("curl reads it", options, async () => {});
 *
 * @throws {Error} If something is missing in CI.
 */
export function needs(
  { commands = [], missing = [] }: Needs,
): { ignore: boolean } {
  const reasons = [missingCommand(...commands), ...missing];
  const reason = reasons.find((it) => it !== undefined);
  if (reason && Deno.env.has("CI")) throw new Error(`To test, ${reason}`);
  return skipIf(reason);
}

/** Returns the options of a test that is skipped, even in CI, if there is a reason. */
export function skipIf(reason: string | undefined): { ignore: boolean } {
  if (reason !== undefined) reportSkipped(reason);
  return { ignore: reason !== undefined };
}

/** The reasons that tests of this file were skipped for. */
const reported = new Set<string>();

/** Adds a reason to the list that `deno task test` shows at its end. */
function reportSkipped(reason: string): void {
  if (reported.has(reason)) return;
  reported.add(reason);
  const file = Deno.mainModule.replace(/.*\/tests\//, "tests/");
  const line = `${JSON.stringify({ reason, file })}\n`;
  const list = Deno.env.get("DATASENSOR_SKIPPED");
  if (list) Deno.writeTextFileSync(list, line, { append: true });
}

/** Tells which of some commands to install, if one is missing. */
export function missingCommand(...names: string[]): string | undefined {
  const folders = Deno.env.get("PATH")?.split(":") ?? [];
  const isInstalled = (name: string) =>
    folders.some((folder) => isFile(`${folder}/${name}`));
  const missing = names.find((name) => !isInstalled(name));
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

/** Tells whether a German locale can be made. */
export function missingGermanLocale(): string | undefined {
  if (!isFile("/usr/share/i18n/locales/de_DE")) return "install locales";
}

/** Tells whether Python has a module of a Debian package. */
export function missingPythonModule(
  module: string,
  debian: string,
): string | undefined {
  const missing = missingCommand("python3");
  if (missing) return missing;
  const args = ["-c", `import ${module}`];
  const { success } = new Deno.Command("python3", { args }).outputSync();
  if (!success) return `install ${debian}`;
}
