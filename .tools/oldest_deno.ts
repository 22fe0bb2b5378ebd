// The oldest supported version of Deno.

/** The oldest Deno with which the service survives a flood of connections. */
export const OLDEST_DENO = "2.8.3";

/** Returns whether a version of Deno is older than {@linkcode OLDEST_DENO}. */
export function isTooOld(version: string): boolean {
  return toNumber(version) < toNumber(OLDEST_DENO);
}

/** Returns a version as a number: localeCompare() would add 6 ms to the start. */
function toNumber(version: string): number {
  const parts = version.split(".").slice(0, 3);
  return parts.reduce((sum, part) => sum * 1000 + parseInt(part), 0);
}
