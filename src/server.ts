// Deno.serve and its life: listen, report, survive, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { answerError } from "./problem.ts";
import { formatStartReport, ListenError } from "./report.ts";

// All in milliseconds
const GRACE = 1800; // for running requests, once the service stops
const MAX_PAUSE = 1000; // before it listens again
const MAX_FLOOD_PAUSE = 8; // as above, after too many open connections
const CALM = 10_000; // a failure after this long is news

/** What the server asks of the world; a test puts its own there. */
export const WORLD = { serve: Deno.serve, delay, now: () => performance.now() };

/**
 * Runs the server until the signal is aborted and running requests are answered.
 *
 * @param handler Answers the requests; when it throws, the server answers 500.
 * @param logger Takes the start report and what goes wrong.
 * @throws {ListenError} If it cannot listen at the start.
 */
export async function runServer(
  config: Config,
  handler: Deno.ServeHandler<Deno.NetAddr>,
  logger: Logger,
  signal: AbortSignal,
  world: typeof WORLD = WORLD,
): Promise<void> {
  const server = new Server(config, handler, logger, world);
  let address: Deno.NetAddr;
  try {
    address = server.listen();
  } catch (error) {
    throw new ListenError(error, config);
  }
  for (const line of formatStartReport(address, config.debug)) {
    logger.info(line);
  }
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => {
    server.shutdown();
    // A half-sent body would hold it for ever
    world.delay(GRACE).then(stopped.resolve);
  });
  await Promise.race([server.survive(signal), stopped.promise]);
}

/**
 * Deno.serve, made to listen again: it gives up when it cannot accept a
 * connection, as when a client holds every file descriptor.
 */
class Server {
  readonly #options: Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>;
  readonly #logger: Logger;
  readonly #world: typeof WORLD;
  #connections = new AbortController();
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;
  #failures = 0;
  #lastFailure = -Infinity;

  constructor(
    { hostname, port, cors }: Config,
    handler: Deno.ServeHandler<Deno.NetAddr>,
    logger: Logger,
    world: typeof WORLD,
  ) {
    const onError = (error: unknown) => answerError(error, logger, cors);
    const onListen = () => {}; // reported otherwise
    this.#options = { hostname, port, handler, onError, onListen };
    this.#logger = logger;
    this.#world = world;
  }

  /** Listens, and returns where; throws what Deno.serve throws. */
  listen(): Deno.NetAddr {
    this.#connections = new AbortController();
    const { signal } = this.#connections;
    this.#server = this.#world.serve({ ...this.#options, signal });
    this.#options.port = this.#server.addr.port; // 0 took a free one
    return this.#server.addr;
  }

  /** Listens again whenever it could not go on, until the signal is aborted. */
  async survive(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#failures > 0) this.listen();
        await this.#server?.finished;
      } catch (error) {
        if (!signal.aborted) await this.#recover(error);
      }
    }
  }

  /** Closes all connections, which frees their descriptors, and waits a little. */
  async #recover(error: unknown): Promise<void> {
    this.#connections.abort();
    const now = this.#world.now();
    if (now - this.#lastFailure > CALM) {
      this.#failures = 0;
      const why = `to listen again after "${error}"`;
      this.#logger.warn(`Closed all connections ${why}`);
    }
    this.#lastFailure = now;
    const flood = String(error).includes("(os error 24)"); // EMFILE
    const longest = flood ? MAX_FLOOD_PAUSE : MAX_PAUSE;
    await this.#world.delay(Math.min(2 ** this.#failures++, longest));
  }

  /** Accepts no more connections, and lets running requests finish. */
  shutdown(): void {
    this.#server?.shutdown();
  }
}
