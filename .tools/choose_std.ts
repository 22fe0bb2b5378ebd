// deno-lint-ignore-file no-console -- it prints to the console by design

// Decides where the @std packages come from, once for each clone, and writes the flags
// with which Deno has them to a file, which the tasks read. If jsr.io answers, there are
// none: Deno downloads and verifies the packages. If it does not, the stand-ins in
// .tools/std replace them.

const FILE = ".tools/std/flags";
const STAND_INS = "--no-lock --import-map=.tools/std/import_map.json";

/** How long to wait for jsr.io: some networks drop packets without an answer. */
const TIMEOUT_MS = 3000;

const registry = Deno.env.get("JSR_URL") || "https://jsr.io";
const hasPackages = await isReachable(registry);
if (!hasPackages) {
  console.error(
    `${registry} cannot be reached: this clone now uses the stand-ins in .tools/std for the @std packages. To look again, delete ${FILE}`,
  );
}
Deno.writeTextFileSync(FILE, hasPackages ? "" : STAND_INS);

/**
 * Returns whether a registry has a package. Any status but a success comes from a proxy
 * (403, 407, 502) or a failing registry (429, 503).
 */
async function isReachable(registry: string): Promise<boolean> {
  try {
    const url = new URL("@std/log/meta.json", registry);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { signal });
    await response.bytes(); // a proxy may stop after the header
    return response.ok;
  } catch {
    return false; // DNS, connection or TLS failure, or a time-out
  }
}
