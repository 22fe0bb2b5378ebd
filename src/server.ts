// The life cycle of the server: listen, report, recover from failures, stop.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { MEMORY_CHECK_MS, MemoryError, watchMemory } from "./memory.ts";
import { trackOutages } from "./outages.ts";
import { problemResponse } from "./responses.ts";
import { formatStartReport, ListenError } from "./startup.ts";

const SHUTDOWN_TIMEOUT_MS = 1800; // how long running requests may take to finish
const LAST_RESPONSE_MS = 20; // for the client that took the last descriptor
const BUSY_BACKLOG = 8; // clients that wait to be accepted, fewer than descriptors
const DESCRIPTOR_RELEASE_MS = 1; // until closed connections have given theirs back
const MEMORY_RELEASE_MS = 500; // until closed connections have given theirs back
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

/** Answers a request; if it throws, the server answers 500. */
export type ServerHandler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => Response;

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
  const tcpBacklog = 511; // Deno's default
  const options = {
    hostname,
    port,
    handler,
    onError,
    onListen() {},
    tcpBacklog,
  };
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
    const outages = trackOutages(logger, runtime.now);
    const checkMemory = watchMemory(logger, runtime);
    while (!signal.aborted) {
      try {
        const { server, closer } = listener ??= listen();
        outages.recovered();
        await Promise.race([server.finished, checkMemory(closer.signal)]);
        if (!signal.aborted) throw new Error("The server has ended");
      } catch (error) {
        // If accept fails while it stops, running requests still get their time
        if (signal.aborted) return shutdownTimeout.promise;
        outages.failed(error);
        const closer = listener?.closer;
        listener = undefined;
        if (!closer) await runtime.delay(LISTEN_RETRY_MS);
        else if (error instanceof MemoryError) await releaseMemory(closer);
        else await releaseDescriptors(closer);
      }
    }
  }

  async function releaseDescriptors(closer: AbortController): Promise<void> {
    using _ = holdPort();
    if (options.handler === handler) conserveDescriptors();
    await runtime.delay(LAST_RESPONSE_MS);
    closer.abort();
    await runtime.delay(DESCRIPTOR_RELEASE_MS);
  }

  async function releaseMemory(closer: AbortController): Promise<void> {
    closer.abort();
    await runtime.delay(DESCRIPTOR_RELEASE_MS);
    using _ = holdPort();
    await runtime.delay(MEMORY_RELEASE_MS);
  }

  /**
   * Makes clients wait: while this listener accepts none of them, the kernel drops
   * their attempts to connect, which they repeat after a second. Otherwise, it would
   * refuse them. So clients that reconnect at once do not keep others out, either.
   */
  function holdPort(): Disposable | undefined {
    const { port } = options;
    try {
      return runtime.listen({ hostname, port, tcpBacklog: 0 });
    } catch {
      return undefined; // they are refused
    }
  }

  /** Makes each later listener accept fewer clients at once, and not keep them. */
  function conserveDescriptors(): void {
    const close = (response: Response): Response => {
      response.headers.set("connection", "close");
      return response;
    };
    options.handler = (request, info) => close(handler(request, info));
    options.onError = (error) => close(onError(error));
    options.tcpBacklog = BUSY_BACKLOG;
    logger.warn("Connections are no longer kept alive");
  }
}

/** Answers 500 for a handler that threw. Only the log contains the error. */
function answerError(error: unknown, logger: Logger, cors: boolean): Response {
  logger.error(`The handler failed: ${error}`);
  if (error instanceof Error) logger.debug(error.stack);
  const detail = "The sensor data is not available at the moment";
  return problemResponse(500, detail, cors);
}
