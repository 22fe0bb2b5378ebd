import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import type { Handler } from "../http/handler.ts";
import { requestTarget } from "../http/request_target.ts";
import { limitWarnings } from "../log/logger.ts";
import { Descriptors, releaseDescriptors } from "./descriptors.ts";
import { type Listener, ListenError, RUNTIME } from "./listener.ts";
import { MemoryError, releaseMemory, watchMemory } from "./memory.ts";
import { formatStartReport } from "./start_report.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const LISTEN_RETRY_MS = 200; // pause after a failed attempt to listen again

/** A server that reports where it listens, and recovers from failures. */
export class Server {
  readonly #descriptors: Descriptors;
  #listener: Listener | undefined; // undefined while it recovers

  constructor(
    private readonly config: Config,
    private readonly handler: Handler,
    private readonly logger: Logger,
    private readonly runtime = RUNTIME,
  ) {
    this.#descriptors = new Descriptors(logger, runtime);
  }

  /**
   * Serves until the signal is aborted and running requests are answered.
   *
   * @throws {ListenError} If it cannot listen at the start.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#listener = this.#listen(this.config);
    const { addr } = this.#listener.server; // port 0 or DENO_SERVE_ADDRESS changes it
    const report = formatStartReport(addr, this.config.debug);
    for (const line of report) this.logger.info(line);
    const timeout = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => {
      this.#listener?.server.shutdown();
      // shutdown() alone would wait forever for a body that never ends
      this.runtime.delay(SHUTDOWN_TIMEOUT_MS).then(timeout.resolve);
    });
    await Promise.race([this.#keepListening(signal), timeout.promise]);
  }

  #listen({ hostname, port }: Pick<Config, "hostname" | "port">): Listener {
    const closer = new AbortController();
    try {
      const server = this.runtime.serve({
        hostname,
        port,
        handler: (request, { remoteAddr: { hostname: client } }) => {
          const info = { client, target: requestTarget(request) };
          return this.#descriptors.finish(this.handler(request, info));
        },
        onError: (error) => { // Deno itself would write to standard error
          this.logger.error(`The access log failed: ${error}`);
          return new Response(null, { status: 500 });
        },
        onListen() {}, // prints nothing
        signal: closer.signal,
      });
      return { server, closer };
    } catch (error) {
      throw new ListenError(error, hostname, port);
    }
  }

  // Deno.serve stops for good when accept fails, as with EMFILE: restart it
  async #keepListening(signal: AbortSignal): Promise<void> {
    const { logger, runtime } = this;
    const warn = limitWarnings(logger, runtime.now);
    if (runtime.residentBytes() === 0) {
      logger.warn("Memory is not limited: it cannot be measured without /proc");
    }
    while (this.#listener) {
      const listener = this.#listener;
      const { finished } = listener.server;
      const memoryError = watchMemory(listener.closer.signal, runtime);
      const error = await Promise.race([finished, memoryError])
        .then(() => new Error("The server has ended"), (error) => error);
      const isMemoryError = error instanceof MemoryError;
      if (signal.aborted && isMemoryError) return;
      // If accept has failed, running requests still get their time
      if (signal.aborted) return finished.catch(() => new Promise(() => {}));
      this.#listener = undefined; // so that a stop does not shut it down, too
      const release = isMemoryError ? releaseMemory : releaseDescriptors;
      await release(listener, runtime);
      warn(`Closed all connections to recover from "${error}"`);
      if (!isMemoryError) this.#descriptors.startSaving();
      this.#listener = await this.#listenAgain(listener.server.addr, signal);
    }
  }

  /** Retries until it listens, or returns undefined once the signal is aborted. */
  async #listenAgain(addr: Deno.NetAddr, signal: AbortSignal) {
    const { logger, runtime } = this;
    const start = runtime.now();
    const warn = limitWarnings(logger, runtime.now);
    for (let hasFailed = false; !signal.aborted; hasFailed = true) {
      try {
        const listener = this.#listen(addr);
        const seconds = ((runtime.now() - start) / 1000).toFixed(1);
        if (hasFailed) logger.warn(`Listening again after ${seconds} s`);
        return listener;
      } catch (error) {
        const [reason] = (error as ListenError).message.split("\n", 1);
        warn(reason!); // without the advice, which is for the start
        await runtime.delay(LISTEN_RETRY_MS);
      }
    }
  }
}
