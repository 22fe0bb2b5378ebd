// How the server gets back descriptors and memory: Deno.serve cannot close single
// connections, so all of them are closed.

import type { delay } from "./delay.ts";

const LAST_RESPONSE_MS = 20; // for the client that took the last descriptor
const DESCRIPTOR_RELEASE_MS = 1; // until closed connections have given theirs back
const MEMORY_RELEASE_MS = 500; // the same for their memory
const BUSY_BACKLOG = 16; // clients that wait to be accepted, fewer than descriptors

/** Answers a request; if it throws, the server answers 500. */
export type ServerHandler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => Response;

/** How Deno.serve is called, again and again. */
export interface ServerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly handler: ServerHandler;
  readonly onError: (error: unknown) => Response;
  readonly onListen: () => void; // prints nothing
  readonly tcpBacklog?: number; // how many clients may wait to be accepted
}

interface Runtime {
  listen: typeof Deno.listen;
  delay: typeof delay;
}

/** Closes all connections after accept has failed, which has closed the port. */
export async function releaseDescriptors(
  closer: AbortController,
  options: ServerOptions,
  runtime: Runtime,
): Promise<void> {
  using _ = holdPort(options, runtime);
  await runtime.delay(LAST_RESPONSE_MS);
  closer.abort();
  await runtime.delay(DESCRIPTOR_RELEASE_MS);
}

/** Closes all connections and the port because of the memory in use. */
export async function releaseMemory(
  closer: AbortController,
  options: ServerOptions,
  runtime: Runtime,
): Promise<void> {
  closer.abort();
  await runtime.delay(DESCRIPTOR_RELEASE_MS); // the port's, too
  using _ = holdPort(options, runtime);
  await runtime.delay(MEMORY_RELEASE_MS);
}

/**
 * Makes clients wait instead of refusing them: while a listener accepts none, the
 * kernel drops their attempts to connect, which they repeat after a second. This
 * also slows down clients that reconnect at once, and would shut others out.
 */
function holdPort(
  { hostname, port }: ServerOptions,
  runtime: Runtime,
): Disposable | undefined {
  try {
    return runtime.listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // they are refused
  }
}

/**
 * Returns options that accept fewer clients at once, and keep none of them. They are
 * for good, as those who have used up the descriptors are likely to do so again.
 */
export function conserveDescriptors(options: ServerOptions): ServerOptions {
  const close = (response: Response): Response => {
    response.headers.set("connection", "close");
    return response;
  };
  return {
    ...options,
    handler: (request, info) => close(options.handler(request, info)),
    onError: (error) => close(options.onError(error)),
    tcpBacklog: BUSY_BACKLOG,
  };
}
