// deno-lint-ignore-file no-console -- what it prints is its purpose

/**
 * Asks jsr.io for one small file. If it cannot be reached, prints the flags that
 * make Deno take the @std packages from elsewhere. Else it fails, for the task
 * `std` to go on and download them.
 *
 * Nothing else is judged here: a package that is missing or wrong stops the
 * command that wanted the flags, and Deno names it.
 *
 * @module
 */

/** How long jsr.io may take, in ms. */
const PATIENCE_MS = 5000;

/** How long it may take before this is told, in ms. */
const SILENCE_MS = 200;

const registry = Deno.env.get("JSR_URL") || "https://jsr.io";

const notice = setTimeout(
  () => console.error("Looking for the @std packages on jsr.io"),
  SILENCE_MS,
);
const reachable = await isReachable(registry);
clearTimeout(notice);

if (reachable) {
  console.error("Downloading the @std packages from jsr.io");
  Deno.exit(1);
}
console.error("jsr.io cannot be reached: @std comes from npm and .tools/std");
console.log(
  "--import-map=.tools/std/import_map.json --lock=.tools/std/deno.lock",
);

/**
 * Whether a registry answers, with the file or with 404. Any other status is
 * that of a proxy (403, 407, 502) or of a registry out of order (429, 503):
 * there is nothing to be had.
 */
async function isReachable(registry: string): Promise<boolean> {
  try {
    const url = new URL("@std/log/meta.json", registry);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { signal });
    await response.bytes(); // the head alone may be there
    return response.ok || response.status === 404;
  } catch {
    return false; // no name, connection, valid certificate or time left
  }
}
