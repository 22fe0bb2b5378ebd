// The port: why it cannot be opened, and how it is closed and held.

import { delay } from "../delay.ts";

const CLOSE_MS = 1; // until the kernel has closed the connections

/** The parts of the runtime that tests of the server replace. */
export const RUNTIME = {
  serve: Deno.serve,
  listen: Deno.listen,
  delay,
  now: () => performance.now(),
  residentBytes: () => Deno.memoryUsage().rss,
};
export type Runtime = typeof RUNTIME;

/** Why Deno.serve failed and how to fix it, by the name of its error. */
const REASONS: Record<string, string> = {
  AddrInUse:
    "another program uses the port\nStop that program, or choose another port with --port",
  AddrNotAvailable:
    "this machine has no such address\nChoose another address with --host, or omit it",
  PermissionDenied:
    "the system reserves that port for privileged users\nChoose port 1024 or higher with --port",
};

/** The service cannot listen. The message has the reason and, if known, the fix. */
export class ListenError extends Error {
  constructor(cause: unknown, hostname: string, port: number) {
    const reason = REASONS[cause instanceof Error ? cause.name : ""] ?? cause;
    super(`Cannot listen on "${hostname}", port ${port}: ${reason}`);
  }
}

/** A listening server, and what closes all connections: Deno cannot close just one. */
export interface Listener {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly closer: AbortController;
}

/** Closes the port and all connections. */
export async function close({ closer }: Listener, { delay }: Runtime) {
  closer.abort();
  await delay(CLOSE_MS);
}

/**
 * Makes clients wait for a closed port, instead of refusing them: while a listener
 * accepts none, the kernel drops all but one attempt to connect, and clients repeat it
 * after a second. This slows down clients that reconnect at once, so that others get
 * a turn. The port must be closed already.
 */
export function holdPort({ server }: Listener, { listen }: Runtime) {
  const { hostname, port } = server.addr;
  try {
    return listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // they are refused
  }
}
