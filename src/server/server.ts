import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import { limitWarnings } from "../log/logger.ts";
import type { Descriptors } from "./descriptors.ts";
import { holdPort, listen, listenAgain, type Listener } from "./listener.ts";
import { MemoryError, watchMemory } from "./memory.ts";
import { RUNTIME } from "./runtime.ts";
import { formatStartReport } from "./start_report.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const CLOSE_MS = 1; // until the kernel has closed the connections
const LAST_RESPONSE_MS = 20; // to answer the client that took the last descriptor
const MEMORY_RELEASE_MS = 500; // until closed connections have freed their memory

/** A server that reports where it listens, and recovers from failures. */
export class Server {
  readonly #warn: ReturnType<typeof limitWarnings>;

  constructor(
    private readonly config: Config,
    private readonly handler: Deno.ServeHandler<Deno.NetAddr>,
    private readonly descriptors: Descriptors,
    private readonly logger: Logger,
    private readonly runtime = RUNTIME,
  ) {
    this.#warn = limitWarnings(logger, runtime.now);
  }

  /** Serves until it is stopped, or throws a {@linkcode ListenError} at the start. */
  async run(stop: AbortSignal): Promise<void> {
    const { config, logger, runtime } = this;
    let listener: Listener | undefined = this.#open(config);
    const { addr } = listener.server; // port 0 or DENO_SERVE_ADDRESS changes it
    const report = formatStartReport(addr, config.debug);
    for (const line of report) logger.info(line);
    if (runtime.residentBytes() === 0) {
      logger.warn("Memory is not limited: it cannot be measured without /proc");
    }
    while (listener) listener = await this.#serve(listener, stop);
  }

  /** Serves until it is stopped, or until it has failed and listens again. */
  async #serve(listener: Listener, stop: AbortSignal) {
    const { server, closer } = listener;
    const { runtime } = this;
    const outOfMemory = watchMemory(closer.signal, runtime);
    const stopped = new Promise((resolve) => stop.onabort = resolve);
    try {
      await Promise.race([stopped, outOfMemory, server.finished]);
      if (!stop.aborted) throw new Error("The server has ended");
    } catch (error) {
      const backlog = await this.#recover(listener, error);
      const open = () => this.#open(server.addr, backlog);
      return await listenAgain(open, stop, this.logger, runtime);
    }
    const timeout = runtime.delay(SHUTDOWN_TIMEOUT_MS);
    // shutdown() alone would wait forever for a body that never ends
    server.shutdown();
    const finished = server.finished.catch(() => timeout); // accept has failed
    await Promise.race([finished, timeout, outOfMemory]).catch(() => {});
  }

  #open(address: Pick<Config, "hostname" | "port">, tcpBacklog?: number) {
    return listen(address, {
      tcpBacklog,
      handler: this.handler,
      onError: (error) => { // Deno itself would write to standard error
        this.logger.error(`The request could not be answered: ${error}`);
        return new Response(null, { status: 500 });
      },
    }, this.runtime);
  }

  /** Closes all connections. Returns the next backlog, or undefined for Deno's. */
  async #recover({ server, closer }: Listener, error: unknown) {
    const { delay } = this.runtime;
    const close = () => {
      closer.abort();
      return delay(CLOSE_MS);
    };
    const isOutOfMemory = error instanceof MemoryError;
    // If accept has failed, as with EMFILE, the port is closed already
    if (isOutOfMemory) await close();
    using _ = holdPort(server.addr, this.runtime);
    await delay(isOutOfMemory ? MEMORY_RELEASE_MS : LAST_RESPONSE_MS);
    await close();
    this.#warn(`Closed all connections to recover from "${error}"`);
    return isOutOfMemory ? undefined : this.descriptors.startSaving();
  }
}
