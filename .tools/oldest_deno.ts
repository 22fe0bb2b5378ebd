// Compares versions of Deno. The oldest that is supported, which is the one that CI
// tests, stands in the file .dvmrc.

/** Returns whether a version of Deno is older than another one. */
export function isOlder(version: string, than: string): boolean {
  return toNumber(version) < toNumber(than);
}

/** Returns a version as a number: localeCompare() would add 6 ms to the start. */
function toNumber(version: string): number {
  const parts = version.split(".").slice(0, 3);
  return parts.reduce((sum, part) => sum * 1000 + parseInt(part), 0);
}
