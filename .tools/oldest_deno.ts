// The oldest supported version of Deno.

/** The oldest Deno with which the service survives a flood of connections. */
export const OLDEST_DENO = "2.8.3";

/** Returns whether a version of Deno is older than {@linkcode OLDEST_DENO}. */
export function isTooOld(version: string): boolean {
  return toNumber(version) < toNumber(OLDEST_DENO);
}

/** Explains why the running Deno is too old, or returns undefined. */
export function warningIfTooOld(): string | undefined {
  if (!isTooOld(Deno.version.deno)) return undefined;
  return `With Deno ${Deno.version.deno}, the service does not survive a flood of connections: use Deno ${OLDEST_DENO} or newer`;
}

/** Returns a version as a number: localeCompare() would add 6 ms to the start. */
function toNumber(version: string): number {
  const parts = version.split(".").slice(0, 3);
  return parts.reduce((sum, part) => sum * 1000 + parseInt(part), 0);
}
