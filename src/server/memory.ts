// What happens when the process takes too much memory. A few HTTP/2 connections are
// enough, because Deno.serve keeps every empty DATA frame of a stream.

import { close, holdPort, type Listener, type Runtime } from "./listener.ts";

export const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
const MEMORY_GROWTH_BYTES = 64e6; // allowed above the lowest use, if that is high
const MEMORY_CHECK_MS = 200; // an attack takes hundreds of MB in a few of these
const MEMORY_RELEASE_MS = 500; // until closed connections have freed their memory

/** The process uses too much memory. */
export class MemoryError extends Error {}

/** Throws a {@linkcode MemoryError} once the process uses too much memory. */
export async function watchMemory(signal: AbortSignal, runtime: Runtime) {
  let lowest = runtime.residentBytes();
  while (!signal.aborted) {
    await runtime.delay(MEMORY_CHECK_MS);
    const bytes = runtime.residentBytes();
    const limit = Math.max(MEMORY_LIMIT_BYTES, lowest + MEMORY_GROWTH_BYTES);
    if (bytes > limit) throw new MemoryError("Too much memory in use");
    lowest = Math.min(lowest, bytes);
  }
}

/** Closes all connections, and waits until their memory is free. */
export async function releaseMemory(listener: Listener, runtime: Runtime) {
  await close(listener, runtime);
  using _ = holdPort(listener, runtime);
  await runtime.delay(MEMORY_RELEASE_MS);
}
