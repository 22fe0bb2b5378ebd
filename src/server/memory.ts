// A few HTTP/2 connections can take all memory: h2 before 0.4.16, as in Deno 2.9.6,
// keeps every empty DATA frame of a stream (RUSTSEC-2026-0258). What a sensor prints
// cannot: the reader is slow enough, and --max-old-space-size limits V8.

import type { Runtime } from "./runtime.ts";

export const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
export const MEMORY_GROWTH_BYTES = 64e6; // the limit is at least this much above the lowest use
const MEMORY_CHECK_MS = 200; // an attack takes hundreds of MB in a few of these

/** The process uses too much memory. */
export class MemoryError extends Error {}

/**
 * Throws a {@linkcode MemoryError} once the process uses too much memory. Returns after
 * the signal is aborted.
 */
export async function watchMemory(
  signal: AbortSignal,
  runtime: Runtime,
): Promise<void> {
  let lowest = runtime.residentBytes();
  while (!signal.aborted) {
    await runtime.delay(MEMORY_CHECK_MS);
    const bytes = runtime.residentBytes();
    const limit = Math.max(MEMORY_LIMIT_BYTES, lowest + MEMORY_GROWTH_BYTES);
    if (bytes > limit) throw new MemoryError("Too much memory in use");
    lowest = Math.min(lowest, bytes);
  }
}
