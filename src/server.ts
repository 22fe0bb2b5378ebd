// Deno.serve and its life: listen, report, survive, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { createProblem } from "./handler.ts";
import { formatStartReport, ListenError } from "./report.ts";

// All in milliseconds
const GRACE = 2000; // for running requests, once the service stops
const MAX_PAUSE = 1000; // before it listens again
const MAX_FLOOD_PAUSE = 8; // as above, after too many open connections
const CALM = 10_000; // a failure after this long is news

/**
 * Runs the server until the signal is aborted and running requests are answered.
 *
 * Deno.serve gives up when it cannot accept a connection, as when a client
 * holds every file descriptor; then it drops all connections and listens again.
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
): Promise<void> {
  let { port } = config;
  let connections: AbortController;
  let server: Deno.HttpServer<Deno.NetAddr>;

  function listen(): void {
    connections = new AbortController();
    server = Deno.serve({
      hostname: config.hostname,
      port,
      handler,
      onError: (error) => answerError(error, logger),
      onListen() {}, // reported below
      signal: connections.signal,
    });
    port = server.addr.port; // 0 took a free one, which it stays
  }

  async function survive(): Promise<void> {
    let failures = 0;
    let lastFailure = -Infinity;
    while (!signal.aborted) {
      try {
        if (failures > 0) listen();
        await server.finished;
      } catch (error) {
        if (signal.aborted) return;
        connections.abort(); // frees the descriptors that they hold
        const now = performance.now();
        if (now - lastFailure > CALM) {
          failures = 0;
          logger.warn(
            `Closed all connections to listen again after "${error}"`,
          );
        }
        lastFailure = now;
        const flood = String(error).includes("(os error 24)"); // EMFILE
        const longest = flood ? MAX_FLOOD_PAUSE : MAX_PAUSE;
        await delay(Math.min(2 ** failures++, longest));
      }
    }
  }

  try {
    listen();
  } catch (error) {
    throw new ListenError(error, config);
  }
  for (const line of formatStartReport(server!.addr, config.debug)) {
    logger.info(line);
  }
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      server.shutdown();
      delay(GRACE).then(resolve); // a half-sent body would hold it for ever
    });
  });
  await Promise.race([survive(), stopped]);
}

/** Answers for a handler that threw; what it threw is for the console only. */
function answerError(error: unknown, logger: Logger): Response {
  logger.error(`The handler failed: ${error}`);
  if (error instanceof Error) logger.debug(error.stack);
  return createProblem(500, "The sensor data cannot be had at the moment");
}
