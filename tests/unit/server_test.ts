// The server's life: failures, memory, stop; its clock and Deno.serve replaced.

import { assertEquals, assertMatch } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { withAccessLog } from "../../src/access_log.ts";
import { DEFAULTS } from "../../src/config.ts";
import { createConsole } from "../../src/console.ts";
import { MEMORY_CHECK_MS, runServer } from "../../src/server.ts";
import { get } from "../helpers/network.ts";
import { delay, waitFor } from "../helpers/wait.ts";

const CONFIG = { ...DEFAULTS, hostname: "127.0.0.1", port: 0 };

/** Runs a server with a handler that throws, and sends it one request. */
async function fail(
  levelName: "DEBUG" | "INFO",
  cors = false,
  error: unknown = new TypeError("The sensor is on fire"),
) {
  let printed = "";
  const decoder = new TextDecoder();
  const { logger, flush } = createConsole(
    (bytes) => {
      printed += decoder.decode(bytes);
      return Promise.resolve(bytes.length);
    },
    levelName,
    "plain",
  );
  const handler = withAccessLog(() => {
    throw error;
  }, (line) => logger.info(line));
  const stop = new AbortController();
  const running = runServer(
    { ...CONFIG, cors },
    handler,
    logger,
    stop.signal,
  );
  await flush();
  const [, origin] = printed.match(/Running on (\S+)/)!;
  const response = await get(origin!);
  const body = await response.json();
  stop.abort();
  await running;
  await flush();
  const lines = printed.split("CTRL+C to quit\n")[1]!.split("\n").slice(0, -1);
  return { response, body, lines };
}

Deno.test("runServer() hides from the client what a handler throws", async () => {
  const { response, body } = await fail("DEBUG");
  assertEquals(response.status, 500);
  const type = response.headers.get("content-type");
  assertEquals(type, "application/problem+json");
  assertEquals(body, {
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
    detail: "The sensor data is not available at the moment",
  });
});

Deno.test("runServer() lets other origins read its error only with --cors", async () => {
  for (const [cors, origin] of [[true, "*"], [false, null]] as const) {
    const { headers } = (await fail("INFO", cors)).response;
    assertEquals(headers.get("access-control-allow-origin"), origin);
  }
});

Deno.test("runServer() logs the stack of what a handler throws in debug mode", async () => {
  const { lines } = await fail("DEBUG");
  assertMatch(
    lines[0]!,
    /^127\.0\.0\.1 - - .* "GET \/datasensor HTTP\/1\.1" 500 -$/,
  );
  assertEquals(lines.slice(1, 3), [
    "ERROR The handler failed: TypeError: The sensor is on fire",
    "DEBUG TypeError: The sensor is on fire",
  ]);
  assertMatch(lines[3]!, /^ {4}at .*server_test\.ts/);
});

Deno.test("runServer() logs no stack without debug mode", async () => {
  const { lines } = await fail("INFO");
  assertEquals(lines.slice(1), [
    "ERROR The handler failed: TypeError: The sensor is on fire",
  ]);
});

Deno.test("runServer() logs a thrown value that is not an error", async () => {
  const { lines } = await fail("DEBUG", false, "on fire");
  assertEquals(lines.slice(1), ["ERROR The handler failed: on fire"]);
});

const EMFILE = new Error("Too many open files (os error 24)");
const CLOSED = `Closed all connections to recover from "${EMFILE}"`;
const IN_USE = new Deno.errors.AddrInUse();
const TAKEN =
  'Cannot listen on "127.0.0.1", port 5000: another program uses the port';

/** A time without a failure, in ms, and the error after it. */
type Failure = [lasted: number, error: Error];

/**
 * Runs a server on a simulated clock, through failures: AddrInUse is what
 * Deno.serve throws, any other error what its server rejects with.
 */
async function runThrough(failures: Failure[]) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const warnings: string[] = [];
  const ports: number[] = [];
  let open = 0;
  let now = 0;
  const serve = ({ port, signal }: { port: number; signal: AbortSignal }) => {
    ports.push(port);
    const [lasted, error] = failures.shift() ?? [0, undefined];
    now += lasted;
    if (error === IN_USE) throw error;
    open++;
    signal.addEventListener("abort", () => open--);
    if (!error) stop.abort();
    const finished = error ? Promise.reject(error) : Promise.resolve();
    const addr = { hostname: "127.0.0.1", port: 5000 };
    return { finished, addr, shutdown: () => finished };
  };
  const system = {
    serve: serve as unknown as typeof Deno.serve,
    delay: (milliseconds: number) => {
      if (milliseconds === MEMORY_CHECK_MS) return new Promise<void>(() => {});
      if (!stop.signal.aborted) {
        assertEquals(open, 0, "Connections are still open");
        pauses.push(milliseconds);
        now += milliseconds;
      }
      return Promise.resolve();
    },
    now: () => now,
    residentBytes: () => 0,
  };
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  await runServer(CONFIG, () => new Response(), logger, stop.signal, system);
  return { pauses, warnings, ports };
}

Deno.test("runServer() listens again 8 ms after a failed accept", async () => {
  const failures: Failure[] = Array(6).fill([100, EMFILE]);
  const { pauses, warnings, ports } = await runThrough(failures);
  assertEquals(pauses, Array(6).fill(8));
  assertEquals(warnings, [CLOSED]);
  // The port that 0 picked at first
  assertEquals(ports, [0, ...Array(6).fill(5000)]);
});

Deno.test("runServer() logs why it cannot listen, and when it listens again", async () => {
  const failures: Failure[] = Array(25).fill([0, IN_USE]);
  const { pauses, warnings } = await runThrough([[100, EMFILE], ...failures]);
  assertEquals(pauses, [8, ...Array(25).fill(200)]);
  assertEquals(warnings, [CLOSED, TAKEN, "Listening again after 5.0 s"]);
});

Deno.test("runServer() repeats a reason once a minute", async () => {
  const failures: Failure[] = Array(650).fill([0, IN_USE]);
  const { warnings } = await runThrough([[0, EMFILE], ...failures]);
  const again = "Listening again after 130.0 s";
  assertEquals(warnings, [CLOSED, TAKEN, TAKEN, TAKEN, again]);
  const flood = await runThrough(Array(130).fill([992, EMFILE]));
  assertEquals(flood.warnings, [CLOSED, CLOSED, CLOSED]);
});

Deno.test("runServer() logs each reason at once, also those of the next outage", async () => {
  const other = new Error("Software caused connection abort (os error 103)");
  const outage: Failure[] = [[0, EMFILE], [0, IN_USE], [0, other]];
  const { warnings } = await runThrough([...outage, ...outage]);
  const again = "Listening again after 0.2 s";
  const closed = CLOSED.replace(`${EMFILE}`, `${other}`);
  const logged = [CLOSED, TAKEN, again, closed];
  assertEquals(warnings, [...logged, CLOSED, TAKEN, again, closed]);
});

/** Runs a server whose process has these sizes, one at each check, in MB. */
async function runWithMemory(...sizes: number[]) {
  const stop = new AbortController();
  const closedAt: (number | undefined)[] = [];
  const warnings: string[] = [];
  let size: number | undefined;
  const serve = ({ signal }: { signal: AbortSignal }) => {
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => {
      closedAt.push(size);
      resolve();
    });
    const addr = { hostname: "127.0.0.1", port: 5000 };
    return { finished, addr, shutdown: resolve };
  };
  const system = {
    serve: serve as unknown as typeof Deno.serve,
    delay: async (milliseconds: number) => {
      await delay(0);
      if (milliseconds !== MEMORY_CHECK_MS) return;
      size = sizes.shift();
      if (size === undefined) stop.abort();
    },
    now: () => 0,
    residentBytes: () => size === undefined ? 0 : size * 1e6,
  };
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  await runServer(CONFIG, () => new Response(), logger, stop.signal, system);
  return { closedAt, warnings };
}

Deno.test("runServer() closes all connections when the process grows too large", async () => {
  const { closedAt, warnings } = await runWithMemory(90, 192, 193, 90, 192);
  assertEquals(closedAt, [193]);
  assertEquals(warnings, [
    'Closed all connections to recover from "Error: Too much memory in use"',
  ]);
});

Deno.test("runServer() accepts that closed connections leave the process larger", async () => {
  const { closedAt } = await runWithMemory(90, 300, 250, 314, 315, 300, 90);
  assertEquals(closedAt, [300, 315]);
});

/** Runs a server whose first listener fails when it is told to. */
function failOnce() {
  const stop = new AbortController();
  const failure = Promise.withResolvers<void>();
  const pause = Promise.withResolvers<void>();
  const paused = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const warnings: string[] = [];
  const system = {
    serve: (({ signal }: { signal: AbortSignal }) => {
      const again = signals.push(signal) > 1;
      const finished = again ? new Promise(() => {}) : failure.promise;
      const addr = { hostname: "127.0.0.1", port: 5000 };
      return { finished, addr, shutdown: () => Promise.resolve() };
    }) as unknown as typeof Deno.serve,
    delay: (milliseconds: number) => {
      if (milliseconds > 8) return new Promise<void>(() => {}); // no retry
      paused.resolve();
      return pause.promise;
    },
    now: () => 0,
    residentBytes: () => 0,
  };
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  const running = runServer(
    CONFIG,
    () => new Response(),
    logger,
    stop.signal,
    system,
  );
  const fail = () => failure.reject(EMFILE);
  return { stop, fail, pause, paused, signals, warnings, running };
}

Deno.test("runServer() listens again only after the pause", async () => {
  const { fail, pause, paused, signals } = failOnce();
  fail();
  await paused.promise;
  await delay(0); // all that does not wait is done
  assertEquals(signals.length, 1);
  pause.resolve();
  await waitFor(() => signals.length === 2);
});

Deno.test("runServer() stops while it waits to listen again", async () => {
  const { stop, fail, pause, paused, signals, running } = failOnce();
  fail();
  await paused.promise;
  stop.abort();
  pause.resolve();
  await running;
  assertEquals(signals.length, 1);
});

Deno.test("runServer() lets running requests finish if accept fails while it stops", async () => {
  const { stop, fail, signals, warnings, running } = failOnce();
  stop.abort();
  fail();
  await running;
  assertEquals([signals.length, signals[0]?.aborted], [1, false]);
  assertEquals(warnings, []);
});
