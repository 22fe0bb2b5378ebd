// deno-lint-ignore-file no-console -- it prints to the console by design

// Warns if Deno is too old, and makes the `@std` packages available: unless they are
// cached, it downloads them from jsr.io or, if that cannot be reached, prints the
// flags that make Deno take them from npm and `.tools/std`.
//
// It does not verify the packages. Deno does so when it downloads one, and fails if it
// is missing or was modified, but it trusts npm's files once they are cached.
//
// Its task sets DENO_NO_UPDATE_CHECK, since Deno would otherwise contact another host
// if this takes more than half a second.

import { warningIfTooOld } from "./oldest_deno.ts";

/** The flags that make Deno take the packages from npm and `.tools/std`. */
const FALLBACK_FLAGS =
  "--import-map=.tools/std/import_map.json --lock=.tools/std/deno.lock";

/** How long to wait for an answer of jsr.io. */
const TIMEOUT_MS = 5000;

/** How long to wait before printing what the program is waiting for. */
const NOTICE_DELAY_MS = 200;

const warning = warningIfTooOld();
if (warning) console.error(warning);
// --cached-only keeps it offline
const cached = import("./std/packages.ts").then(() => true, () => false);
if (await cached) Deno.exit();
if (await isReachable(Deno.env.get("JSR_URL") || "https://jsr.io")) {
  console.error("Downloading the @std packages from jsr.io");
  const packages = `${import.meta.dirname}/std/packages.ts`;
  const args = ["install", "--quiet", "--entrypoint", packages];
  // Errors are left to the command that needs the packages
  await new Deno.Command(Deno.execPath(), { args }).output();
} else {
  console.error(
    "jsr.io cannot be reached: using substitutes for @std from npm and .tools/std",
  );
  console.log(FALLBACK_FLAGS);
}

/**
 * Returns whether a registry answers. A success or a 404 counts; any other status
 * comes from a proxy (403, 407, 502) or a failing registry (429, 503). A login page
 * counts too: Deno will reject it, since it is not the locked package.
 */
async function isReachable(registry: string): Promise<boolean> {
  const notice = setTimeout(
    () => console.error("Looking for the @std packages on jsr.io"),
    NOTICE_DELAY_MS,
  );
  try {
    const url = new URL("@std/log/meta.json", registry);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { signal });
    await response.bytes(); // a proxy may stop after the header
    return response.ok || response.status === 404;
  } catch {
    return false; // DNS, connection or TLS failure, or a time-out
  } finally {
    clearTimeout(notice);
  }
}
