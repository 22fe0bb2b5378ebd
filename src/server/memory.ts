// A few HTTP/2 connections can take all memory: h2 before 0.4.16, as in Deno 2.9.6,
// keeps every empty DATA frame of a stream (RUSTSEC-2026-0258). With a newer h2, answers that
// nobody reads still take some 300 MB. What a sensor prints cannot take as much: readLines()
// reads at most 0.2 MB/s, and --max-old-space-size limits V8.

import type { System } from "../system.ts";

const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
const MEMORY_GROWTH_BYTES = 64e6; // above the lowest use, if that permits more
const CHECK_MS = 200; // an attack takes hundreds of MB in a few of these
const RELEASE_MS = 500; // until closed connections have freed their memory, if they do
const RELEASE_CHECKS = 10; // more than were ever needed: a board may be slower

const NOT_FREED = `Closing all connections has not freed enough memory
Start the service with MALLOC_TRIM_THRESHOLD_=131072 DENO_USR2_MEMORY_TRIM=1, if it was started without them`;

/** The process uses too much memory, and cannot free it. */
export class MemoryError extends Error {}

/** Limits the memory of the process. The limit can only fall, so no attack raises it. */
export class MemoryLimit {
  #lowestBytes: number;

  constructor(private readonly system: System) {
    this.#lowestBytes = system.residentBytes();
    system.acceptTrims();
  }

  /** Waits until the process uses too much memory, or the signal is aborted. */
  async waitForExcessOrAbort(signal: AbortSignal): Promise<void> {
    do {
      await this.system.delay(CHECK_MS);
    } while (!signal.aborted && !this.#isExceeded());
  }

  /**
   * Waits until the memory of closed connections is free, or the signal is aborted.
   *
   * @throws {MemoryError} If the process still uses too much.
   */
  async waitForReleaseOrAbort(signal: AbortSignal): Promise<void> {
    for (let check = 0; check < RELEASE_CHECKS && !signal.aborted; check++) {
      this.system.trimMemory();
      await this.system.delay(RELEASE_MS);
      if (!this.#isExceeded()) return;
    }
    if (!signal.aborted) throw new MemoryError(NOT_FREED);
  }

  /** Measures whether the process uses too much. */
  #isExceeded(): boolean {
    const bytes = this.system.residentBytes();
    this.#lowestBytes = Math.min(this.#lowestBytes, bytes);
    const growthLimitBytes = this.#lowestBytes + MEMORY_GROWTH_BYTES;
    const limitBytes = Math.max(MEMORY_LIMIT_BYTES, growthLimitBytes);
    return bytes > limitBytes;
  }
}
