import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import type { Application } from "../http/application.ts";
import { limitWarnings, type Warn } from "../log/logger.ts";
import {
  holdPort,
  listen,
  type Listener,
  type ListenError,
  retryListening,
} from "./listener.ts";
import { MemoryLimit } from "./memory.ts";
import { RUNTIME } from "./runtime.ts";
import { formatStartReport } from "./start_report.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const CLOSE_MS = 1; // until the kernel has closed the connections
const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor

/** Why a listener no longer serves. */
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
    private readonly runtime = RUNTIME,
  ) {
    this.#warn = limitWarnings(logger, runtime.now);
    this.#memory = new MemoryLimit(runtime);
  }

  /**
   * Serves until it is stopped. After a failure, it closes all connections, and listens
   * again.
   *
   * @throws {ListenError} If it cannot listen at the start, unless it retries.
   * @throws {MemoryError} If it uses too much memory without any connection.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { logger, runtime } = this;
    let listener = await this.#start(stop);
    if (!listener) return;
    const { addr } = listener.server; // port 0 or DENO_SERVE_ADDRESS changes it
    this.#report(addr);
    while (true) {
      const exceeded = this.#memory.waitForExcess(listener.closer.signal);
      const ending = await waitForEnding(listener, stop, exceeded);
      if (ending.kind === "stopped") {
        return await this.#shutDown(listener, exceeded);
      }
      if (ending.kind === "accept") await this.#closeAfterFailure(listener);
      else await this.#closeForMemory(listener, stop);
      this.#warn(`Closed all connections to recover from "${ending.reason}"`);
      const open = () => this.#open(addr);
      listener = await retryListening(open, () => true, stop, logger, runtime);
      if (!listener) return;
    }
  }

  /**
   * Listens for the first time. Under systemd, it retries if that can help: a restart for
   * each attempt would write hundreds of megabytes a day into the journal.
   */
  #start(stop: AbortSignal): Promise<Listener | undefined> {
    const { config, logger, runtime } = this;
    const open = () => this.#open(config);
    const mayRetry = ({ kind }: ListenError) =>
      config.journal && kind === "taken";
    return retryListening(open, mayRetry, stop, logger, runtime);
  }

  #report(addr: Deno.NetAddr): void {
    const report = formatStartReport(addr, this.config, this.runtime);
    for (const line of report) this.logger.info(line);
    if (this.runtime.residentBytes() === 0) {
      this.logger.warn(
        "Memory is not limited: it cannot be measured without /proc",
      );
    }
  }

  #open(address: Pick<Config, "hostname" | "port">): Listener {
    return listen(address, this.application, this.runtime);
  }

  /** Closes idle connections, and waits for running requests, but not forever. */
  async #shutDown(
    { server }: Listener,
    exceeded: Promise<void>,
  ): Promise<void> {
    const timeout = this.runtime.delay(SHUTDOWN_TIMEOUT_MS); // a body may never end
    server.shutdown();
    // An attack may go on, and exceed the memory
    await Promise.race([waitForResponses(server), timeout, exceeded]);
  }

  /** Closes all connections after a failed accept, and holds the port meanwhile. */
  async #closeAfterFailure({ server, closer }: Listener): Promise<void> {
    // The failed accept has closed the port already
    using _held = holdPort(server.addr, this.runtime);
    await this.runtime.delay(LAST_RESPONSE_MS);
    closer.abort();
    await this.runtime.delay(CLOSE_MS);
  }

  /** Closes all connections, and holds the port until their memory is free. */
  async #closeForMemory(
    { server, closer }: Listener,
    stop: AbortSignal,
  ): Promise<void> {
    closer.abort(); // which closes the port, too
    await this.runtime.delay(CLOSE_MS);
    using _held = holdPort(server.addr, this.runtime);
    await this.#memory.waitForRelease(stop);
  }
}

/** Waits until all running requests are answered, or forever if nothing tells. */
function waitForResponses({ finished }: Deno.HttpServer): Promise<void> {
  // It is rejected if accept has failed, which says nothing of running requests
  return finished.catch(() => new Promise(() => {}));
}

/** Waits until a listener no longer serves, and returns why. */
function waitForEnding(
  { server }: Listener,
  stop: AbortSignal,
  exceeded: Promise<void>,
): Promise<Ending> {
  return new Promise((resolve) => {
    const failAccept = (reason: string) => resolve({ kind: "accept", reason });
    if (stop.aborted) resolve({ kind: "stopped" });
    // Replaces that of the previous listener, which would keep it in memory
    stop.onabort = () => resolve({ kind: "stopped" });
    exceeded.then(() =>
      resolve({ kind: "memory", reason: "Too much memory in use" })
    );
    server.finished.then(
      () => failAccept("The server has ended"),
      (error) => failAccept(`${error}`),
    );
  });
}
