import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import type { Application } from "../http/application.ts";
import { limitWarnings, type Warn } from "../log/logger.ts";
import type { Descriptors } from "./descriptors.ts";
import {
  holdPort,
  keepTrying,
  listen,
  type Listener,
  type ListenError,
} from "./listener.ts";
import { MemoryError, MemoryLimit } from "./memory.ts";
import { RUNTIME } from "./runtime.ts";
import { formatStartReport } from "./start_report.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const CLOSE_MS = 1; // until the kernel has closed the connections
const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor

/**
 * A server that reports where it listens, and recovers from failures: it closes all
 * connections, and listens again. Three things then let others in, although a few clients
 * take every connection:
 *
 * - Each response closes its connection (`withClosing`), so that clients share the
 *   descriptors: while 202 idle connections are held at 192 descriptors, this alone lets
 *   9 of 24 new clients in, instead of 5.
 * - The port is held while connections are closed (`holdPort`), which slows down those
 *   that reconnect at once: then all 24 get in, and of 360 requests of 30 clients that
 *   poll at 48 descriptors, none is lost, instead of 2, or 23 without both.
 * - During an attack, the queue is short (`backlog`), so that nobody waits behind clients
 *   that only hold connections: a siege left 1 of 372 requests without an answer within
 *   2 s, instead of 8 of 265.
 */
export class Server {
  readonly #warn: Warn;
  readonly #memory: MemoryLimit;

  constructor(
    private readonly config: Config,
    private readonly application: Application,
    private readonly descriptors: Descriptors,
    private readonly logger: Logger,
    private readonly runtime = RUNTIME,
  ) {
    this.#warn = limitWarnings(logger, runtime.now);
    this.#memory = new MemoryLimit(runtime);
  }

  /**
   * Serves until it is stopped.
   *
   * @throws {ListenError} If it cannot listen at the start, unless it retries.
   * @throws {MemoryError} If it uses too much memory without any connection.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { logger, runtime } = this;
    const stopped = waitForAbort(stop);
    let listener = await this.#start(stop);
    if (!listener) return;
    const { addr } = listener.server; // port 0 or DENO_SERVE_ADDRESS changes it
    this.#report(addr);
    while (true) {
      // Rejects once too much memory is used, and ends when this listener is closed
      const memoryWatch = this.#memory.watch(listener.closer.signal);
      const failure = await waitForFailure(listener, stopped, memoryWatch);
      if (failure === undefined) {
        return await this.#shutDown(listener, memoryWatch);
      }
      await this.#recover(listener, failure, stop);
      const open = () => this.#open(addr);
      listener = await keepTrying(open, () => true, stop, logger, runtime);
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
    return keepTrying(open, mayRetry, stop, logger, runtime);
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

  /** Closes idle connections, and waits for running requests, but not forever. */
  async #shutDown(
    { server }: Listener,
    memoryWatch: Promise<void>,
  ): Promise<void> {
    const timeout = this.runtime.delay(SHUTDOWN_TIMEOUT_MS);
    // shutdown() alone would wait forever for a body that never ends
    server.shutdown();
    const finished = server.finished.catch(() => timeout); // accept has failed
    // An attack may go on meanwhile, so memory is still watched
    await Promise.race([finished, timeout, memoryWatch]).catch(() => {});
  }

  #open(address: Pick<Config, "hostname" | "port">): Listener {
    const tcpBacklog = this.descriptors.backlog;
    return listen(address, { tcpBacklog, ...this.application }, this.runtime);
  }

  /** Closes all connections, so that the server can listen again. */
  async #recover(
    listener: Listener,
    failure: unknown,
    stop: AbortSignal,
  ): Promise<void> {
    const isMemory = failure instanceof MemoryError;
    if (isMemory) await this.#freeMemory(listener, stop);
    else await this.#freeDescriptors(listener);
    this.#warn(`Closed all connections to recover from "${failure}"`);
    if (!isMemory) this.descriptors.noteExhausted();
  }

  /** Closes all connections, and with them the port, to free their memory. */
  async #freeMemory(
    { server, closer }: Listener,
    stop: AbortSignal,
  ): Promise<void> {
    closer.abort();
    await this.runtime.delay(CLOSE_MS);
    using _ = holdPort(server.addr, this.runtime);
    await this.#memory.waitForRelease(stop);
  }

  /**
   * Closes all connections to free their descriptors. The port is closed already: Deno
   * does so when accept fails, as with EMFILE.
   */
  async #freeDescriptors({ server, closer }: Listener): Promise<void> {
    using _ = holdPort(server.addr, this.runtime);
    await this.runtime.delay(LAST_RESPONSE_MS);
    closer.abort();
    await this.runtime.delay(CLOSE_MS);
  }
}

/** Waits until a server fails, and returns why, or undefined if it is stopped. */
async function waitForFailure(
  { server }: Listener,
  stopped: Promise<void>,
  memoryWatch: Promise<void>,
): Promise<unknown> {
  const ended = server.finished.then(() => {
    throw new Error("The server has ended");
  });
  try {
    await Promise.race([stopped, memoryWatch, ended]);
  } catch (error) {
    return error;
  }
}

/** Resolves when a signal is aborted, or at once if it already is. */
function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });
}
