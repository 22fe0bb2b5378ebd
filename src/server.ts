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
  const { hostname, port, cors, debug } = config;
  const onError = (error: unknown) => answerError(error, logger, cors);
  const onListen = () => {}; // reported otherwise
  const options = { hostname, port, handler, onError, onListen };
  let connections = new AbortController();
  const listen = () => world.serve({ ...options, signal: connections.signal });
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = listen();
  } catch (error) {
    throw new ListenError(error, config);
  }
  options.port = server.addr.port; // 0 took a free one
  for (const line of formatStartReport(server.addr, debug)) logger.info(line);

  const stopped = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => {
    server.shutdown();
    // A half-sent body would hold it for ever
    world.delay(GRACE).then(stopped.resolve);
  });
  await Promise.race([survive(), stopped.promise]);

  // It gives up when it cannot accept a connection, as when a client holds
  // every file descriptor
  async function survive(): Promise<void> {
    const pause = createPause(logger, world);
    for (let again = false; !signal.aborted; again = true) {
      try {
        if (again) server = listen();
        await server.finished;
      } catch (error) {
        if (signal.aborted) return;
        connections.abort(); // which frees their descriptors
        connections = new AbortController();
        await pause(error);
      }
    }
  }
}

/**
 * Returns a function that tells a failure, unless it is one of a row, and waits
 * a little, longer each time.
 */
function createPause(logger: Logger, world: typeof WORLD) {
  let failures = 0;
  let lastFailure = -Infinity;
  return (error: unknown): Promise<void> => {
    const now = world.now();
    if (now - lastFailure > CALM) {
      failures = 0;
      logger.warn(`Closed all connections to listen again after "${error}"`);
    }
    lastFailure = now;
    const flood = String(error).includes("(os error 24)"); // EMFILE
    const longest = flood ? MAX_FLOOD_PAUSE : MAX_PAUSE;
    return world.delay(Math.min(2 ** failures++, longest));
  };
}
