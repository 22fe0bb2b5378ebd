// deno-lint-ignore-file no-console -- it prints to the console by design

// Warns if Deno is too old, and prints the Deno flags with which it has the `@std`
// packages. Those of JSR need none. Where jsr.io cannot be reached, substitutes from
// npm and `.tools/std` replace them. The first start downloads one or the other; later
// ones use what is cached, and do not need the network.
//
// It does not verify the packages. Deno does so when it downloads one, and fails if it
// is missing or was modified. It also ends this program if one of JSR was modified in
// the cache, but it trusts npm's files once they are cached.
//
// Its task passes the oldest supported Deno, which saves the permission to read it, and
// sets DENO_NO_UPDATE_CHECK, since Deno would otherwise contact another host if this
// takes more than half a second.

import { adviseOnCertificates } from "./certificates.ts";
import { isOlder } from "./oldest_deno.ts";

/** The module that imports the packages. */
const PACKAGES = ".tools/std/packages.ts";

/** The flags with which Deno uses the substitutes. */
const SUBSTITUTES = [
  "--import-map=.tools/std/import_map.json",
  "--lock=.tools/std/deno.lock",
];

/** How long to wait for an answer of jsr.io. */
const TIMEOUT_MS = 5000;

const { deno } = Deno.version;
const [oldest = deno] = Deno.args;
if (isOlder(deno, oldest)) {
  console.error(
    `Deno ${deno} is too old: the service may not survive a flood of connections. Use Deno ${oldest} or newer`,
  );
}
console.log(...await resolve());

/** Returns the flags, after it has downloaded the packages if none are cached. */
async function resolve(): Promise<string[]> {
  // The task's --cached-only keeps it offline
  const cached = import("./std/packages.ts").then(() => true, () => false);
  if (await cached) return [];
  const { success } = await runDeno("run", "--cached-only", ...SUBSTITUTES);
  if (success) return SUBSTITUTES;
  if (await isReachable(Deno.env.get("JSR_URL") || "https://jsr.io")) {
    console.error("The first start downloads packages from jsr.io");
    await runDeno("cache"); // errors are left to the command that needs the packages
    return [];
  }
  console.error(
    "jsr.io cannot be reached: the packages come from npm instead. There is nothing to do",
  );
  // --reload replaces files that are damaged
  const download = await runDeno("cache", "--reload", ...SUBSTITUTES);
  if (download.success) return SUBSTITUTES;
  const reason = download.stderr.match(/(?<= 0: ).*/)?.[0] ?? download.stderr;
  const remedy = adviseOnCertificates(reason);
  console.error(
    `The first start needs jsr.io or npm, to download packages: ${reason}${
      remedy ? `; ${remedy}` : ""
    }`,
  );
  // An exit code would not end the task: its shell ignores that of a command in $(…)
  return ["--preload=./.tools/std/unavailable.ts"];
}

/**
 * Returns whether a registry answers. A success or a 404 counts; any other status
 * comes from a proxy (403, 407, 502) or a failing registry (429, 503). A login page
 * counts too: Deno will reject it, since it is not the locked package.
 */
async function isReachable(registry: string): Promise<boolean> {
  try {
    const url = new URL("@std/log/meta.json", registry);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { signal });
    await response.bytes(); // a proxy may stop after the header
    return response.ok || response.status === 404;
  } catch {
    return false; // DNS, connection or TLS failure, or a time-out
  }
}

/** Runs or caches the module that imports the packages. */
async function runDeno(subcommand: "cache" | "run", ...flags: string[]) {
  const args = [subcommand, "--quiet", ...flags, PACKAGES];
  // Without a backtrace, standard error is the reason
  const env = { RUST_BACKTRACE: "0" };
  const command = new Deno.Command(Deno.execPath(), { args, env });
  const { success, stderr } = await command.output();
  return { success, stderr: new TextDecoder().decode(stderr) };
}
