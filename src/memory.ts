// The limit of the memory in use.

import type { Logger } from "@std/log/logger";

export const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
const MEMORY_GROWTH_BYTES = 64e6; // allowed above what an attack left allocated
export const MEMORY_CHECK_MS = 200; // an attack takes hundreds of MB in a few of these

/** The process uses too much memory. */
export class MemoryError extends Error {}

interface Runtime {
  residentBytes(): number;
  untilMemoryCheck(): Promise<void>;
}

/**
 * Creates a function that watches the memory until a signal is aborted, and throws
 * once the process uses too much. A few HTTP/2 connections can cause this, because
 * Deno.serve keeps every empty DATA frame of a stream.
 */
export function watchMemory(logger: Logger, runtime: Runtime) {
  if (runtime.residentBytes() === 0) {
    logger.warn("Memory is not limited: it cannot be measured without /proc");
  }
  return async (signal: AbortSignal): Promise<void> => {
    let lowest = runtime.residentBytes();
    while (!signal.aborted) {
      await runtime.untilMemoryCheck();
      const bytes = runtime.residentBytes();
      const limit = Math.max(MEMORY_LIMIT_BYTES, lowest + MEMORY_GROWTH_BYTES);
      if (bytes > limit) throw new MemoryError("Too much memory in use");
      lowest = Math.min(lowest, bytes);
    }
  };
}
