// The life cycle of the server: listen, report, recover from failures, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { problemResponse } from "./responses.ts";
import { formatStartReport, ListenError } from "./startup.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const ACCEPT_RETRY_MS = 8; // short, because clients are refused in the meantime
const LISTEN_RETRY_MS = 200; // pause after a failed attempt to listen again
const REMINDER_MS = 60_000; // how often an unchanged problem is logged
export const MEMORY_LIMIT_BYTES = 192e6; // normal use stays below 110 MB
const MEMORY_GROWTH_BYTES = 64e6; // allowed above what an attack left allocated
const MEMORY_CHECK_MS = 1000; // not shorter, as each check wakes the CPU

/** The parts of the runtime that tests replace. */
export const RUNTIME = {
  serve: Deno.serve,
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
 * @param handler Answers the requests; if it throws, the server answers 500.
 * @param logger Receives the start report and failures.
 * @throws {ListenError} If it cannot listen at the start.
 */
export async function runServer(
  config: Config,
  handler: Deno.ServeHandler<Deno.NetAddr>,
  logger: Logger,
  signal: AbortSignal,
  runtime: typeof RUNTIME = RUNTIME,
): Promise<void> {
  const { hostname, port, cors, debug } = config;
  const onError = (error: unknown) => answerError(error, logger, cors);
  const options = { hostname, port, handler, onError, onListen() {} };
  let listener: Listener | undefined = listen(); // undefined in a pause
  const { addr } = listener.server;
  options.port = addr.port; // 0 has picked a free one
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
    const outages = trackOutages(logger, runtime);
    while (!signal.aborted) {
      try {
        const { server, closer } = listener ??= listen();
        outages.recovered();
        const memoryExceeded = watchMemory(closer.signal, runtime);
        await Promise.race([server.finished, memoryExceeded]);
        if (!signal.aborted) throw new Error("The server has ended");
      } catch (error) {
        // If accept fails while it stops, running requests still get their time
        if (signal.aborted) return shutdownTimeout.promise;
        listener?.closer.abort(); // frees their descriptors and memory
        listener = undefined;
        await outages.logAndPause(error);
      }
    }
  }
}

/** Logs why the server does not listen, and when it listens again. */
function trackOutages(logger: Logger, runtime: typeof RUNTIME) {
  const loggedAt = new Map<string, number>(); // by message
  let downSince: number | undefined;
  return {
    /** Logs a failure, but the same one only once a minute, and waits. */
    async logAndPause(error: unknown): Promise<void> {
      const now = runtime.now();
      const isListenFailure = error instanceof ListenError;
      if (isListenFailure) downSince ??= now;
      const message = isListenFailure
        ? error.message.split("\n", 1)[0]!
        : `Closed all connections to recover from "${error}"`;
      if (now - (loggedAt.get(message) ?? -Infinity) >= REMINDER_MS) {
        logger.warn(message);
        loggedAt.set(message, now);
      }
      await runtime.delay(isListenFailure ? LISTEN_RETRY_MS : ACCEPT_RETRY_MS);
    },
    /** Logs that the server listens again, after an outage. */
    recovered(): void {
      if (downSince === undefined) return;
      const seconds = (runtime.now() - downSince) / 1000;
      logger.warn(`Listening again after ${seconds.toFixed(1)} s`);
      downSince = undefined;
      loggedAt.clear();
    },
  };
}

/**
 * Throws once the process uses too much memory, which a single HTTP/2 connection
 * can cause: Deno.serve keeps every empty DATA frame of a stream.
 */
async function watchMemory(signal: AbortSignal, runtime: typeof RUNTIME) {
  let lowest = runtime.residentBytes();
  while (!signal.aborted) {
    await runtime.untilMemoryCheck();
    const bytes = runtime.residentBytes();
    const limit = Math.max(MEMORY_LIMIT_BYTES, lowest + MEMORY_GROWTH_BYTES);
    if (bytes > limit) throw new Error("Too much memory in use");
    lowest = Math.min(lowest, bytes);
  }
}

/** Answers 500 for a handler that threw. Only the log contains the error. */
function answerError(error: unknown, logger: Logger, cors: boolean): Response {
  logger.error(`The handler failed: ${error}`);
  if (error instanceof Error) logger.debug(error.stack);
  const detail = "The sensor data is not available at the moment";
  return problemResponse(500, detail, cors);
}
