// How the server recovers: it closes all connections, as Deno.serve cannot close one.

import { delay } from "../delay.ts";

const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor
const DESCRIPTOR_RELEASE_MS = 1; // until closed connections have given theirs back
const MEMORY_RELEASE_MS = 500; // the same for their memory
export const MEMORY_LIMIT_BYTES = 144e6; // normal use stays below 110 MB
const MEMORY_GROWTH_BYTES = 64e6; // allowed above what an attack left allocated
const MEMORY_CHECK_MS = 200; // an attack takes hundreds of MB in a few of these

/** The parts of the runtime that tests replace. */
export const RUNTIME = {
  serve: Deno.serve,
  listen: Deno.listen,
  delay,
  untilMemoryCheck: () => delay(MEMORY_CHECK_MS),
  now: () => performance.now(),
  residentBytes: () => Deno.memoryUsage().rss,
};

type Runtime = typeof RUNTIME;

/** The process uses too much memory. */
export class MemoryError extends Error {}

/**
 * Closes all connections after an error, and holds the port until they have given
 * back what they used. An accept that failed has already closed the port.
 */
export async function closeConnections(
  closer: AbortController,
  error: unknown,
  address: Deno.NetAddr,
  runtime: Runtime,
): Promise<void> {
  const isMemoryError = error instanceof MemoryError;
  if (isMemoryError) {
    closer.abort(); // closes the port, too
    await runtime.delay(DESCRIPTOR_RELEASE_MS);
  }
  using _ = holdPort(address, runtime);
  await runtime.delay(isMemoryError ? MEMORY_RELEASE_MS : LAST_RESPONSE_MS);
  closer.abort();
  await runtime.delay(DESCRIPTOR_RELEASE_MS);
}

/**
 * Makes clients wait instead of refusing them: while a listener accepts none, the
 * kernel drops all but one attempt to connect, and clients repeat it after a second.
 * This also slows down those that reconnect at once, and would shut others out.
 */
function holdPort({ hostname, port }: Deno.NetAddr, runtime: Runtime) {
  try {
    return runtime.listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // they are refused
  }
}

/**
 * Watches the memory until the signal is aborted. A few HTTP/2 connections can take
 * too much of it, because Deno.serve keeps every empty DATA frame of a stream.
 *
 * @throws {MemoryError} Once the process uses too much.
 */
export async function watchMemory(signal: AbortSignal, runtime: Runtime) {
  let lowest = runtime.residentBytes();
  while (!signal.aborted) {
    await runtime.untilMemoryCheck();
    const bytes = runtime.residentBytes();
    const limit = Math.max(MEMORY_LIMIT_BYTES, lowest + MEMORY_GROWTH_BYTES);
    if (bytes > limit) throw new MemoryError("Too much memory in use");
    lowest = Math.min(lowest, bytes);
  }
}
