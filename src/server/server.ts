import type { Config } from "../config.ts";
import type { Application } from "../http/handler.ts";
import { limitWarnings, type Logger, type Warn } from "../log/logger.ts";
import {
  type Address,
  holdPort,
  listen,
  type Listener,
  type ListenError,
  retryListening,
} from "./listener.ts";
import { MemoryLimit } from "./memory.ts";
import { formatStartReport } from "./start_report.ts";
import type { System } from "../system.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const CLOSE_MS = 1; // until the kernel has closed the connections and the port
const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor
const TOO_LARGE = "Too much memory in use";

/** Why a listener no longer serves. `accept`: accepting a connection failed, as with EMFILE. */
type Ending =
  | { readonly kind: "stopped" }
  | { readonly kind: "memory" | "accept"; readonly reason: string };

/** A server that reports where it listens, and recovers from failures. */
export class Server {
  readonly #warn: Warn;
  readonly #memory: MemoryLimit;

  constructor(
    private readonly config: Config,
    private readonly application: Application,
    private readonly logger: Logger,
    private readonly system: System,
  ) {
    this.#warn = limitWarnings(logger, system);
    this.#memory = new MemoryLimit(system);
  }

  /**
   * Serves until it is stopped. After a failure, it closes all connections, and listens
   * again.
   *
   * @throws {ListenError} If it cannot listen at the start, unless it retries.
   * @throws {MemoryError} If it uses too much memory without any connection.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { logger, system } = this;
    let listener = await this.#start(stop);
    if (!listener) return;
    const { addr } = listener.server; // port 0 or DENO_SERVE_ADDRESS changes it
    this.#report(addr);
    while (true) {
      const { signal } = listener.closer; // aborted once its ending is known
      const exceeded = this.#memory.waitForExcessOrAbort(signal);
      const ending = await waitForEnding(listener, stop, exceeded);
      if (ending.kind === "stopped") {
        return await this.#shutDown(listener, exceeded);
      }
      if (ending.kind === "accept") await this.#closeAfterFailure(listener);
      else await this.#closeForMemory(listener, stop);
      this.#warn(`Closed all connections to recover from "${ending.reason}"`);
      const attempt = () => this.#listen(addr);
      const mayRetry = () => true;
      listener = await retryListening(attempt, mayRetry, stop, logger, system);
      if (!listener) return;
    }
  }

  /** Listens for the first time. */
  #start(stop: AbortSignal): Promise<Listener | undefined> {
    const { config, logger, system } = this;
    const attempt = () => this.#listen(config);
    // systemd's restarts would log more than retries do
    const mayRetry = ({ kind }: ListenError) =>
      config.journal && kind === "taken";
    return retryListening(attempt, mayRetry, stop, logger, system);
  }

  #report(addr: Deno.NetAddr): void {
    const { debug, journal, stdin } = this.config;
    const report = formatStartReport(addr, debug, stdin, this.system);
    if (!journal) report.push("Press CTRL+C to quit");
    for (const line of report) this.logger.info(line);
    if (this.system.residentBytes() === 0) {
      this.logger.warn("Memory is not limited: /proc is missing");
    }
  }

  #listen(address: Address): Listener {
    return listen(address, this.application, this.system);
  }

  /** Closes idle connections, and waits for running requests, but not forever. */
  async #shutDown(
    { server }: Listener,
    exceeded: Promise<void>,
  ): Promise<void> {
    const timeout = this.system.delay(SHUTDOWN_TIMEOUT_MS); // a body may never end
    server.shutdown();
    // A failed accept says nothing of running requests
    const answered = server.finished.catch(() => timeout);
    // An attack may go on, and exceed the memory
    await Promise.race([answered, timeout, exceeded]);
  }

  /** Closes all connections after a failed accept, and holds the port meanwhile. */
  async #closeAfterFailure({ server, closer }: Listener): Promise<void> {
    // The failed accept has closed the port already
    using _held = holdPort(server.addr, this.system);
    await this.system.delay(LAST_RESPONSE_MS);
    closer.abort();
    await this.system.delay(CLOSE_MS);
  }

  /** Closes all connections, and holds the port until their memory is free. */
  async #closeForMemory(
    { server, closer }: Listener,
    stop: AbortSignal,
  ): Promise<void> {
    closer.abort(); // which closes the port, too
    await this.system.delay(CLOSE_MS);
    using _held = holdPort(server.addr, this.system);
    await this.#memory.waitForReleaseOrAbort(stop);
  }
}

/** Waits until a listener no longer serves, and returns why. */
function waitForEnding(
  { server, closer }: Listener,
  stop: AbortSignal,
  exceeded: Promise<void>,
): Promise<Ending> {
  const stopped = Promise.withResolvers<Ending>();
  const end = () => stopped.resolve({ kind: "stopped" });
  if (stop.aborted) end();
  // The signal to stop outlives this listener, whose end removes what waits for it
  stop.addEventListener("abort", end, { signal: closer.signal });
  const accept = (reason: string): Ending => ({ kind: "accept", reason });
  return Promise.race([
    stopped.promise,
    exceeded.then((): Ending => ({ kind: "memory", reason: TOO_LARGE })),
    server.finished.then(
      () => accept("The server has ended"),
      (error) => accept(`${error}`),
    ),
  ]);
}
