// The life cycle of the server: listen, report, recover from failures, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import { problemResponse } from "../http/handler.ts";
import { limitWarnings } from "../log/logger.ts";
import {
  closeConnections,
  MemoryError,
  RUNTIME,
  watchMemory,
} from "./recovery.ts";
import { formatStartReport, ListenError } from "./start_report.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const LISTEN_RETRY_MS = 200; // pause after a failed attempt to listen again
const CONSERVING_MS = 600_000; // how long, after accept has last failed
const BACKLOG = 16; // a burst of waiting clients must not take all descriptors

/**
 * Runs the server until the signal is aborted and running requests are answered.
 *
 * @param handler If it throws, the server answers 500.
 * @param logger Receives the start report and failures.
 * @throws {ListenError} If it cannot listen at the start.
 */
export async function runServer(
  { hostname, port, cors, debug }: Config,
  handler: (request: Request, client: string) => Response,
  logger: Logger,
  signal: AbortSignal,
  runtime: typeof RUNTIME = RUNTIME,
): Promise<void> {
  let isConserving = false; // descriptors, as accept has failed and may again
  let acceptFailedAt = 0;
  let listener: ReturnType<typeof listen> | undefined = listen();
  const { addr } = listener.server;
  ({ hostname, port } = addr); // port 0 or DENO_SERVE_ADDRESS changes them
  for (const line of formatStartReport(addr, debug)) logger.info(line);

  const shutdownTimeout = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => {
    listener?.server.shutdown();
    // shutdown() alone would wait forever for a body that never ends
    runtime.delay(SHUTDOWN_TIMEOUT_MS).then(shutdownTimeout.resolve);
  });
  await Promise.race([keepListening(), shutdownTimeout.promise]);

  function listen() {
    const closer = new AbortController(); // closes all connections
    try {
      const server = runtime.serve({
        hostname,
        port,
        handler: (request, { remoteAddr }) =>
          finish(handler(request, remoteAddr.hostname)),
        onError: (error) => finish(answerError(error)),
        onListen() {}, // prints nothing
        signal: closer.signal,
        tcpBacklog: isConserving ? BACKLOG : undefined,
      });
      return { server, closer };
    } catch (error) {
      throw new ListenError(error, hostname, port);
    }
  }

  function finish(response: Response): Response {
    if (!isConserving) return response;
    if (runtime.now() - acceptFailedAt >= CONSERVING_MS) {
      isConserving = false;
      logger.warn("Connections are kept alive again");
    } else {
      response.headers.set("connection", "close");
    }
    return response;
  }

  /** Answers 500 for a handler that threw. Only the log contains the error. */
  function answerError(error: unknown): Response {
    logger.error(`The handler failed: ${error}`);
    if (error instanceof Error) logger.debug(error.stack);
    const detail = "The sensor data is not available at the moment";
    return problemResponse(500, detail, cors);
  }

  // Deno.serve stops for good when accept fails, as with EMFILE: restart it
  async function keepListening(): Promise<void> {
    const warn = limitWarnings(logger, runtime.now);
    if (runtime.residentBytes() === 0) {
      logger.warn("Memory is not limited: it cannot be measured without /proc");
    }
    while (listener) {
      const { server, closer } = listener;
      const memoryError = watchMemory(closer.signal, runtime);
      const error = await Promise.race([server.finished, memoryError])
        .then(() => new Error("The server has ended"), (error) => error);
      if (signal.aborted) {
        if (error instanceof MemoryError) return;
        // If accept has failed, running requests still get their time
        return server.finished.catch(() => shutdownTimeout.promise);
      }
      listener = undefined; // a stop must not shut it down: abort() would throw
      const wasConserving = isConserving;
      if (!(error instanceof MemoryError)) {
        isConserving = true;
        acceptFailedAt = runtime.now();
      }
      await closeConnections(closer, error, server.addr, runtime);
      warn(`Closed all connections to recover from "${error}"`);
      if (isConserving && !wasConserving) {
        logger.warn("Connections are no longer kept alive");
      }
      listener = await listenAgain();
    }
  }

  /** Retries until it listens, or returns undefined once the signal is aborted. */
  async function listenAgain() {
    const start = runtime.now();
    const warn = limitWarnings(logger, runtime.now);
    for (let hasFailed = false; !signal.aborted; hasFailed = true) {
      try {
        const listener = listen();
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
