// A few HTTP/2 connections can take all memory: h2 before 0.4.16, as in Deno 2.9.6,
// keeps every empty DATA frame of a stream (RUSTSEC-2026-0258).

import type { Logger } from "@std/log/logger";
import type { Runtime } from "./runtime.ts";

export const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
export const MEMORY_GROWTH_BYTES = 64e6; // the limit is at least this much above the lowest use
const MEMORY_CHECK_MS = 200; // an attack takes hundreds of MB in a few of these
const FREED_BYTES = 16e6; // what the connections of an attack free at least

/** The process uses too much memory. */
export class MemoryError extends Error {
  constructor(readonly residentBytes: number) {
    super("Too much memory in use");
  }
}

/** How much memory the process may use. --max-old-space-size limits V8's part of it. */
export class MemoryLimit {
  #bytes = MEMORY_LIMIT_BYTES;

  constructor(
    private readonly logger: Logger,
    private readonly runtime: Runtime,
  ) {}

  /** Throws a {@linkcode MemoryError} once the process uses too much memory. */
  async watch(signal: AbortSignal): Promise<void> {
    const { delay, residentBytes } = this.runtime;
    let lowest = residentBytes();
    while (!signal.aborted) {
      await delay(MEMORY_CHECK_MS);
      const bytes = residentBytes();
      const limit = Math.max(this.#bytes, lowest + MEMORY_GROWTH_BYTES);
      if (bytes > limit) throw new MemoryError(bytes);
      lowest = Math.min(lowest, bytes);
    }
  }

  /**
   * Raises the limit if closing all connections has freed nothing: otherwise they would
   * be closed forever.
   */
  raiseUnlessFreed({ residentBytes }: MemoryError): void {
    const bytes = this.runtime.residentBytes();
    if (bytes < residentBytes - FREED_BYTES) return;
    this.#bytes = bytes + MEMORY_GROWTH_BYTES;
    const megabytes = Math.round(this.#bytes / 1e6);
    this.logger.warn(
      `Closing connections has freed no memory: the limit is now ${megabytes} MB`,
    );
  }
}
