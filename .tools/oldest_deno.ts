/**
 * Names the oldest Deno that is supported.
 *
 * @module
 */

/** The oldest Deno with which the service survives a flood of connections. */
export const OLDEST_DENO = "2.8.3";

/** Returns whether a version of Deno is older than {@linkcode OLDEST_DENO}. */
export function isTooOld(version: string): boolean {
  return version.localeCompare(OLDEST_DENO, "en", { numeric: true }) < 0;
}
