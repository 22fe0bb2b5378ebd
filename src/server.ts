// The life cycle of the server: listen, report, recover from failures, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { MEMORY_CHECK_MS, MemoryError, watchMemory } from "./memory.ts";
import { trackOutages } from "./outages.ts";
import {
  conserveDescriptors,
  releaseDescriptors,
  releaseMemory,
  type ServerHandler,
  type ServerOptions,
} from "./recovery.ts";
import { problemResponse } from "./responses.ts";
import { formatStartReport, ListenError } from "./startup.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const LISTEN_RETRY_MS = 200; // pause after a failed attempt to listen again

/** The parts of the runtime that tests replace. */
export const RUNTIME = {
  serve: Deno.serve,
  listen: Deno.listen,
  delay,
  untilMemoryCheck: () => delay(MEMORY_CHECK_MS),
  now: () => performance.now(),
  residentBytes: () => Deno.memoryUsage().rss,
};

interface Listener {
  server: Deno.HttpServer<Deno.NetAddr>;
  closer: AbortController; // closes all connections when it is aborted
}

/**
 * Runs the server until the signal is aborted and running requests are answered.
 *
 * @param logger Receives the start report and failures.
 * @throws {ListenError} If it cannot listen at the start.
 */
export async function runServer(
  config: Config,
  handler: ServerHandler,
  logger: Logger,
  signal: AbortSignal,
  runtime: typeof RUNTIME = RUNTIME,
): Promise<void> {
  const { hostname, port, cors, debug } = config;
  const onError = (error: unknown) => answerError(error, logger, cors);
  let options: ServerOptions = {
    hostname,
    port,
    handler,
    onError,
    onListen() {},
  };
  let listener: Listener | undefined = listen(); // undefined in a pause
  const { addr } = listener.server;
  options = { ...options, port: addr.port }; // 0 has picked a free one
  for (const line of formatStartReport(addr, debug)) logger.info(line);

  const shutdownTimeout = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => {
    listener?.server.shutdown();
    // shutdown() alone would wait forever for a body that never ends
    runtime.delay(SHUTDOWN_TIMEOUT_MS).then(shutdownTimeout.resolve);
  });
  await Promise.race([keepListening(), shutdownTimeout.promise]);

  function listen(): Listener {
    const closer = new AbortController();
    try {
      const server = runtime.serve({ ...options, signal: closer.signal });
      return { server, closer };
    } catch (error) {
      throw new ListenError(error, hostname, options.port);
    }
  }

  // Deno.serve stops for good when accept fails, as with EMFILE: restart it
  async function keepListening(): Promise<void> {
    const outages = trackOutages(logger, runtime.now);
    const checkMemory = watchMemory(logger, runtime);
    while (!signal.aborted) {
      try {
        const { server, closer } = listener ??= listen();
        outages.listening();
        await Promise.race([server.finished, checkMemory(closer.signal)]);
        if (!signal.aborted) throw new Error("The server has ended");
      } catch (error) {
        // If accept fails while it stops, running requests still get their time
        if (signal.aborted) return shutdownTimeout.promise;
        outages.failed(error);
        const closer = listener?.closer;
        listener = undefined;
        if (!closer) await runtime.delay(LISTEN_RETRY_MS);
        else if (error instanceof MemoryError) {
          await releaseMemory(closer, options, runtime);
        } else {
          if (options.handler === handler) { // for the first time
            logger.warn("Connections are no longer kept alive");
            options = conserveDescriptors(options);
          }
          await releaseDescriptors(closer, options, runtime);
        }
      }
    }
  }
}

/** Answers 500 for a handler that threw. Only the log contains the error. */
function answerError(error: unknown, logger: Logger, cors: boolean): Response {
  logger.error(`The handler failed: ${error}`);
  if (error instanceof Error) logger.debug(error.stack);
  const detail = "The sensor data is not available at the moment";
  return problemResponse(500, detail, cors);
}
