// deno-lint-ignore-file no-console -- it prints to the console by design

// Warns if Deno is too old, and makes the `@std` packages available: unless they are
// cached, it downloads them from jsr.io or, if that cannot be reached, prints the
// flags that make Deno take them from npm and `.tools/std`.
//
// It does not verify the packages. Deno does so when it downloads one, and fails if it
// is missing or was modified, but it trusts npm's files once they are cached.
//
// Its task passes the oldest supported Deno, which saves the permission to read it, and
// sets DENO_NO_UPDATE_CHECK, since Deno would otherwise contact another host if this
// takes more than half a second.

import { isOlder } from "./oldest_deno.ts";

/** The flags that make Deno take the packages from npm and `.tools/std`. */
const FALLBACK_FLAGS =
  "--import-map=.tools/std/import_map.json --lock=.tools/std/deno.lock";

/** How long to wait for an answer of jsr.io. */
const TIMEOUT_MS = 5000;

const { deno } = Deno.version;
const [oldest = deno] = Deno.args;
if (isOlder(deno, oldest)) {
  console.error(
    `Deno ${deno} is too old: the service may not survive a flood of connections. Use Deno ${oldest} or newer`,
  );
}
// --cached-only keeps it offline
const cached = import("./std/packages.ts").then(() => true, () => false);
if (await cached) Deno.exit();
console.error("Looking for the @std packages on jsr.io");
if (await isReachable(Deno.env.get("JSR_URL") || "https://jsr.io")) {
  await download(); // errors are left to the command that needs the packages
} else {
  console.error(
    "jsr.io cannot be reached: using substitutes for @std from npm and .tools/std",
  );
  const error = await download(...FALLBACK_FLAGS.split(" "));
  if (error) {
    const needs = "The first start needs jsr.io or npm, to download packages:";
    console.error(needs, error);
    // An exit code would not end the task: its shell ignores that of a command in $(…)
    console.log("--preload=./.tools/std/unavailable.ts");
  } else console.log(FALLBACK_FLAGS);
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

/** Downloads the packages, and returns the reason if that fails. */
async function download(...flags: string[]): Promise<string | undefined> {
  const packages = `${import.meta.dirname}/std/packages.ts`;
  const args = ["cache", "--quiet", ...flags, packages];
  const command = new Deno.Command(Deno.execPath(), { args });
  const { success, stderr } = await command.output();
  if (success) return undefined;
  const text = new TextDecoder().decode(stderr);
  return text.match(/(?<= 0: ).*/)?.[0] ?? text; // the first of its causes
}
