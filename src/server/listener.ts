import type { Logger } from "@std/log/logger";
import { limitWarnings } from "../log/logger.ts";
import type { Runtime } from "./runtime.ts";

const LISTEN_RETRY_MS = 200; // pause after a failed attempt to listen again

/** Why Deno.serve failed and how to fix it, by the name of its error. */
const REASONS: Record<string, string> = {
  AddrInUse:
    "another program uses the port\nStop that program, or choose another port with --port",
  AddrNotAvailable:
    "this machine has no such address\nChoose another address with --host, or omit it",
  NotCapable: "the service is not permitted to use that address",
  PermissionDenied:
    "the system reserves that port for privileged users\nChoose port 1024 or higher with --port",
};

const OVERRIDDEN = "DENO_SERVE_ADDRESS seems to override --host and --port";

/** The service cannot listen. The message has the reason and, if known, the fix. */
export class ListenError extends Error {}

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
  try {
    return { server: runtime.serve(all), closer };
  } catch (error) {
    const { name } = error as Error;
    const text = REASONS[name] ?? `${error}`;
    using free = holdPort({ hostname, port }, runtime);
    throw new ListenError(
      free || name === "NotCapable" // so Deno.serve has tried another address
        ? `Cannot listen: ${text.split("\n", 1)}\n${OVERRIDDEN}`
        : `Cannot listen on "${hostname}", port ${port}: ${text}`,
    );
  }
}

/** Retries until it listens, or returns undefined once the signal is aborted. */
export async function listenAgain(
  open: () => Listener,
  signal: AbortSignal,
  logger: Logger,
  { now, delay }: Runtime,
): Promise<Listener | undefined> {
  const start = now();
  const warn = limitWarnings(logger, now);
  for (let hasFailed = false; !signal.aborted; hasFailed = true) {
    try {
      const listener = open();
      const seconds = ((now() - start) / 1000).toFixed(1);
      if (hasFailed) logger.warn(`Listening again after ${seconds} s`);
      return listener;
    } catch (error) {
      const [reason] = (error as ListenError).message.split("\n", 1);
      warn(reason!); // without the advice, which is for the start
      await delay(LISTEN_RETRY_MS);
    }
  }
}

/**
 * Makes clients of a free port wait instead of refusing them: while a listener accepts
 * none, the kernel drops all but one attempt to connect, and clients repeat it after a
 * second. This slows down those that reconnect at once, so that others get a turn.
 */
export function holdPort({ hostname, port }: Address, { listen }: Runtime) {
  try {
    return listen({ hostname, port, tcpBacklog: 0 });
  } catch {
    return undefined; // the port is not free, so clients are refused
  }
}
