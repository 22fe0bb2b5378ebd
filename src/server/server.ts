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

/** What the server needs of the settings. */
export interface ServerSettings extends Address {
  /** Whether the log has stack traces. */
  readonly debug: boolean;
  /** Whether there is a page to name in the start report. */
  readonly hasPage: boolean;
  /** Whether to say that Ctrl+C stops the service. */
  readonly mentionsCtrlC: boolean;
  /** Whether to retry at the start while another program uses the port. */
  readonly retriesStart: boolean;
}

/** Why a listener no longer serves. `accept`: accepting a connection failed, as with EMFILE. */
type Ending =
  | { readonly kind: "stopped" }
  | { readonly kind: "memory" | "accept"; readonly reason: string };

/** A server that reports where it listens, and recovers from failures. */
export class Server {
  readonly #warn: Warn;
  readonly #memory: MemoryLimit;

  constructor(
    private readonly settings: ServerSettings,
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
      const exceeded = this.#memory.waitForExcess(listener.closer.signal);
      const ending = await waitForEnding(listener, stop, exceeded);
      if (ending.kind === "stopped") {
        return await this.#shutDown(listener, exceeded);
      }
      if (ending.kind === "accept") await this.#closeAfterFailure(listener);
      else await this.#closeForMemory(listener, stop);
      this.#warn(`Closed all connections to recover from "${ending.reason}"`);
      const open = () => this.#open(addr);
      listener = await retryListening(open, () => true, stop, logger, system);
      if (!listener) return;
    }
  }

  /** Listens for the first time. */
  #start(stop: AbortSignal): Promise<Listener | undefined> {
    const { settings, logger, system } = this;
    const open = () => this.#open(settings);
    const mayRetry = ({ kind }: ListenError) =>
      settings.retriesStart && kind === "taken";
    return retryListening(open, mayRetry, stop, logger, system);
  }

  #report(addr: Deno.NetAddr): void {
    const { debug, hasPage, mentionsCtrlC } = this.settings;
    const report = formatStartReport(addr, debug, hasPage, this.system);
    if (mentionsCtrlC) report.push("Press CTRL+C to quit");
    for (const line of report) this.logger.info(line);
    if (this.system.residentBytes() === 0) {
      this.logger.warn("Memory is not limited: /proc is missing");
    }
  }

  #open(address: Address): Listener {
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
    await this.#memory.waitForRelease(stop);
  }
}

/** Waits until a listener no longer serves, and returns why. */
function waitForEnding(
  { server, closer }: Listener,
  stop: AbortSignal,
  exceeded: Promise<void>,
): Promise<Ending> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ kind: "accept", reason });
    if (stop.aborted) resolve({ kind: "stopped" });
    const { signal } = closer; // whose end removes this from the signal to stop
    stop.addEventListener("abort", () => resolve({ kind: "stopped" }), {
      signal,
    });
    // Also ends when the connections close, but by then another ending has won
    exceeded.then(() =>
      resolve({ kind: "memory", reason: "Too much memory in use" })
    );
    server.finished.then(
      () => fail("The server has ended"),
      (error) => fail(`${error}`),
    );
  });
}
