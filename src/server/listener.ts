import type { Logger } from "@std/log/logger";
import { limitWarnings } from "../log/logger.ts";
import type { Runtime } from "./runtime.ts";

const LISTEN_RETRY_MS = 200; // pause after a failed attempt, which takes 0.05 ms

/** Why Deno.serve failed and, if known, the remedy, by the name of its error. */
const CAUSES: Record<string, { reason: string; remedy?: string }> = {
  AddrInUse: {
    reason: "another program uses the port",
    remedy: "Stop that program, or choose another port with --port",
  },
  AddrNotAvailable: {
    reason: "this machine has no such address",
    remedy: "Choose another address with --host, or omit it",
  },
  NotCapable: { reason: "the service is not permitted to use that address" },
  PermissionDenied: {
    reason: "the system reserves that port for privileged users",
    remedy:
      "Choose port 1024 or higher with --port, or add CAP_NET_BIND_SERVICE, as the operator's guide shows",
  },
};

const OVERRIDDEN = "DENO_SERVE_ADDRESS seems to override --host and --port";

/** The service cannot listen. The message has the reason and, if known, the remedy. */
export class ListenError extends Error {
  constructor(readonly reason: string, readonly remedy?: string) {
    super(remedy === undefined ? reason : `${reason}\n${remedy}`);
  }
}

/** A listening server, and what closes all connections: Deno cannot close just one. */
export interface Listener {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly closer: AbortController;
}

type Address = Pick<Deno.NetAddr, "hostname" | "port">;

/** Listens on an address, or throws a {@linkcode ListenError}. */
export function listen(
  { hostname, port }: Address,
  options: Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>,
  runtime: Runtime,
): Listener {
  const closer = new AbortController();
  const { signal } = closer;
  const all = { ...options, hostname, port, signal, onListen() {} }; // silent
  const open = (): Listener => ({ server: runtime.serve(all), closer });
  // A failure is about this address or, with DENO_SERVE_ADDRESS, another one. It is about
  // this one if this one is not free, and it is about the other one if a permission is
  // missing: all addresses of --host are permitted
  try {
    return open();
  } catch (error) {
    const isPermitted = (error as Error).name !== "NotCapable";
    if (isPermitted && !isFree({ hostname, port }, runtime)) {
      const { reason, remedy } = causeOf(error as Error);
      const place = `"${hostname}", port ${port}`;
      throw new ListenError(`Cannot listen on ${place}: ${reason}`, remedy);
    }
  }
  // A program that used this address may have just ended, so try again. If that fails,
  // too, Deno.serve tries the other address
  try {
    return open();
  } catch (error) {
    const { reason } = causeOf(error as Error);
    throw new ListenError(`Cannot listen: ${reason}`, OVERRIDDEN);
  }
}

/** Returns why Deno.serve failed and, if known, the remedy. */
function causeOf(error: Error): { reason: string; remedy?: string } {
  return CAUSES[error.name] ?? { reason: `${error}` };
}

function isFree(address: Address, runtime: Runtime): boolean {
  using held = holdPort(address, runtime);
  return held !== undefined;
}

/** Retries until it listens, or returns undefined once the signal is aborted. */
export async function keepTrying(
  open: () => Listener,
  signal: AbortSignal,
  logger: Logger,
  { now, delay }: Runtime,
): Promise<Listener | undefined> {
  const start = now();
  const warn = limitWarnings(logger, now);
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      const listener = open();
      const seconds = ((now() - start) / 1000).toFixed(1);
      if (hasFailed) logger.warn(`Listening after ${seconds} s`);
      return listener;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      hasFailed = true;
      const { reason, remedy } = error;
      warn(remedy === undefined ? reason : `${reason}. ${remedy}`);
      await delay(LISTEN_RETRY_MS);
    }
  }
}

/**
 * Takes a free port with an empty queue, and accepts nobody. The kernel then ignores all
 * but one attempt to connect, and clients retry after a second instead of being refused.
 * This slows down those that reconnect at once, so that others get a turn.
 */
export function holdPort(
  { hostname, port }: Address,
  { listen }: Runtime,
): Disposable | undefined {
  try {
    return listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // the port is not free, so clients are refused
  }
}
