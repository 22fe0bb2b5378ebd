import type { Clock } from "../clock.ts";
import type { Application } from "../http/handler.ts";
import { limitWarnings, type Logger } from "../log/logger.ts";
import type { System } from "../system.ts";

const LISTEN_RETRY_MS = 200; // pause after a failed attempt

/** Why the service cannot listen. */
interface Cause {
  /**
   * Taken: another program has the port, and may give it back. Impossible: somebody must
   * change the flags or the system first.
   */
  readonly kind: "taken" | "impossible" | "unknown";
  readonly reason: string;
  readonly remedy?: string;
}

const OTHER_ADDRESS = "Choose another address with --host, or omit it";

const UNSET_ADDRESS =
  "Unset DENO_SERVE_ADDRESS, which overrides --host and --port";

/** The causes, by the name or else the code of Deno.serve's error. */
const CAUSES: Record<string, Cause> = {
  AddrInUse: {
    kind: "taken",
    reason: "another program uses the port",
    remedy: "Stop that program, or choose another port with --port",
  },
  AddrNotAvailable: {
    kind: "impossible",
    reason: "this machine has no such address",
    remedy: OTHER_ADDRESS,
  },
  EAFNOSUPPORT: {
    kind: "impossible",
    reason: "this machine has no such kind of address",
    remedy: OTHER_ADDRESS,
  },
  NotCapable: { // by DENO_SERVE_ADDRESS, or if Deno lacks the permissions of the task
    kind: "impossible",
    reason: "the service is not permitted to use the address",
    remedy: Deno.build.standalone
      ? UNSET_ADDRESS
      : `${UNSET_ADDRESS}. If it is not set, use "deno task start", which permits the addresses of --host`,
  },
  PermissionDenied: {
    kind: "impossible",
    reason: "the system reserves that port for privileged users",
    remedy:
      "Choose port 1024 or higher with --port, or add CAP_NET_BIND_SERVICE, as the operator's guide shows",
  },
};

/** An address and a port. */
export type Address = Pick<Deno.NetAddr, "hostname" | "port">;

/** The service cannot listen. The message has the problem and, if known, the remedy. */
export class ListenError extends Error {
  constructor(
    readonly kind: Cause["kind"],
    readonly problem: string,
    readonly remedy?: string,
  ) {
    super(remedy === undefined ? problem : `${problem}\n${remedy}`);
  }
}

/** A listening server, and what closes all connections: Deno cannot close just one. */
export interface Listener {
  readonly server: Deno.HttpServer<Deno.NetAddr>;
  readonly closer: AbortController;
}

/** Listens on an address, or throws a {@linkcode ListenError}. */
export function listen(
  { hostname, port }: Address,
  application: Application,
  system: System,
): Listener {
  const closer = new AbortController();
  const { signal } = closer;
  const options = { ...application, hostname, port, signal, onListen() {} };
  try {
    return { server: system.serve(options), closer };
  } catch (error) {
    const { kind, reason, remedy } = causeOf(error as Error);
    // DENO_SERVE_ADDRESS, not this address, was refused
    const isRefused = error instanceof Deno.errors.NotCapable;
    const place = isRefused ? "" : ` on "${hostname}", port ${port}`;
    throw new ListenError(kind, `Cannot listen${place}: ${reason}`, remedy);
  }
}

/** Returns why Deno.serve has failed. */
function causeOf(error: Error & { code?: string }): Cause {
  return CAUSES[error.name] ?? CAUSES[error.code ?? ""] ??
    { kind: "unknown", reason: `${error}` };
}

/**
 * Retries until it listens, or returns undefined once the signal is aborted.
 *
 * @throws {ListenError} If the error may not be retried.
 */
export async function retryListening(
  attempt: () => Listener,
  mayRetry: (error: ListenError) => boolean,
  signal: AbortSignal,
  logger: Logger,
  clock: Clock,
): Promise<Listener | undefined> {
  const start = clock.monotonicTime();
  const warn = limitWarnings(logger, clock);
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      const listener = attempt();
      const seconds = ((clock.monotonicTime() - start) / 1000).toFixed(1);
      if (hasFailed) logger.info(`Listening after ${seconds} s`);
      return listener;
    } catch (error) {
      if (!(error instanceof ListenError && mayRetry(error))) throw error;
      hasFailed = true;
      const { problem, remedy } = error;
      warn(remedy === undefined ? problem : `${problem}. ${remedy}`);
      await clock.delay(LISTEN_RETRY_MS);
    }
  }
}

/**
 * Slows clients down that reconnect at once, so that others get a turn: takes a free port
 * with an empty queue, and accepts nobody. The kernel then ignores all but one attempt to
 * connect instead of refusing it, and the kernels of most clients retry after a second.
 */
export function holdPort(
  { hostname, port }: Address,
  system: System,
): Disposable | undefined {
  try {
    return system.listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // the port is not free, so clients are refused
  }
}
