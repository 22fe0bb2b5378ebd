// The server's life: failures, memory, stop; its clock and Deno.serve replaced.

import { assertEquals, assertMatch } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { withAccessLog } from "../../src/access_log.ts";
import { DEFAULTS } from "../../src/config.ts";
import { createConsole } from "../../src/console.ts";
import { MEMORY_CHECK_MS, runServer, type SYSTEM } from "../../src/server.ts";
import { get } from "../helpers/network.ts";
import { delay, waitFor } from "../helpers/wait.ts";

const CONFIG = { ...DEFAULTS, hostname: "127.0.0.1", port: 0 };

/** Sends a request to a real server whose handler throws. */
async function failWith(
  error: unknown,
  level: "DEBUG" | "INFO",
  cors = false,
) {
  let written = "";
  const { logger, flush } = createConsole(
    (bytes) => {
      written += new TextDecoder().decode(bytes);
      return Promise.resolve(bytes.length);
    },
    level,
    "plain",
  );
  const handler = withAccessLog(() => {
    throw error;
  }, (line) => logger.info(line));
  const stop = new AbortController();
  const config = { ...CONFIG, cors };
  const running = runServer(config, handler, logger, stop.signal);
  await flush();
  const response = await get(written.match(/Running on (\S+)/)![1]!);
  const body = await response.json();
  stop.abort();
  await running;
  await flush();
  const lines = written.split("CTRL+C to quit\n")[1]!.split("\n").slice(0, -1);
  return { response, body, lines };
}

const ERROR = new TypeError("The sensor is on fire");

Deno.test("runServer() hides from the client what a handler throws", async () => {
  for (const cors of [true, false]) {
    const { response, body } = await failWith(ERROR, "INFO", cors);
    const { status, headers } = response;
    assertEquals(headers.get("content-type"), "application/problem+json");
    assertEquals(headers.has("access-control-allow-origin"), cors);
    assertEquals([status, body], [500, {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The sensor data is not available at the moment",
    }]);
  }
});

Deno.test("runServer() logs what a handler throws, in debug mode with its stack", async () => {
  const message = `ERROR The handler failed: ${ERROR}`;
  const brief = await failWith(ERROR, "INFO");
  assertMatch(brief.lines[0]!, /^127.* "GET \/datasensor HTTP\/1\.1" 500 -$/);
  assertEquals(brief.lines.slice(1), [message]);
  const { lines } = await failWith(ERROR, "DEBUG");
  const stack = `DEBUG ${ERROR.stack}`.split("\n");
  assertEquals(lines.slice(1), [message, ...stack]);
  const text = await failWith("on fire", "DEBUG");
  assertEquals(text.lines.slice(1), ["ERROR The handler failed: on fire"]);
});

/** The state of a simulated process. */
interface Simulation {
  now: number;
  residentBytes: number;
  /** Stops the server. */
  readonly stop: AbortController;
  readonly warnings: string[];
  readonly running: Promise<void>;
}

/**
 * Runs a server in a simulated process.
 *
 * @param serve Listens, and returns what its `finished` is.
 * @param wait Resolves after a time, in ms.
 */
function simulate(
  serve: (signal: AbortSignal, port: number) => Promise<void>,
  wait: (milliseconds: number) => Promise<void>,
): Simulation {
  const warnings: string[] = [];
  const state = { now: 0, residentBytes: 0, stop: new AbortController() };
  const system = {
    serve: ({ signal, port }: { signal: AbortSignal; port: number }) => ({
      finished: serve(signal, port),
      addr: { hostname: "127.0.0.1", port: 5000 },
      shutdown: () => Promise.resolve(),
    }),
    delay: wait,
    now: () => state.now,
    residentBytes: () => state.residentBytes,
  } as unknown as typeof SYSTEM;
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  const handler = () => new Response();
  const { signal } = state.stop;
  const running = runServer(CONFIG, handler, logger, signal, system);
  return Object.assign(state, { warnings, running });
}

const NEVER = new Promise<never>(() => {});
const EMFILE = new Error("Too many open files (os error 24)");
const CLOSED = `Closed all connections to recover from "${EMFILE}"`;
const IN_USE = new Deno.errors.AddrInUse();
const TAKEN =
  'Cannot listen on "127.0.0.1", port 5000: another program uses the port';

/** A time without a failure, in ms, and the error after it. */
type Failure = [lasted: number, error: Error];

/**
 * Runs a server through failures: AddrInUse is what Deno.serve throws, any other
 * error what its server rejects with.
 */
async function runThrough(failures: Failure[]) {
  const pauses: number[] = [];
  const ports: number[] = [];
  let open = 0;
  const serve = (signal: AbortSignal, port: number) => {
    ports.push(port);
    const [lasted, error] = failures.shift() ?? [0, undefined];
    if (error === IN_USE) throw error;
    open++;
    signal.addEventListener("abort", () => open--);
    return Promise.resolve().then(() => {
      simulation.now += lasted;
      if (error) throw error;
      simulation.stop.abort();
    });
  };
  const wait = (milliseconds: number) => {
    if (milliseconds === MEMORY_CHECK_MS) return NEVER;
    if (!simulation.stop.signal.aborted) {
      assertEquals(open, 0, "Connections are still open");
      pauses.push(milliseconds);
      simulation.now += milliseconds;
    }
    return Promise.resolve();
  };
  const simulation = simulate(serve, wait);
  await simulation.running;
  return { pauses, ports, warnings: simulation.warnings };
}

Deno.test("runServer() listens again 8 ms after a failed accept, on the same port", async () => {
  const failures: Failure[] = Array(6).fill([100, EMFILE]);
  const { pauses, warnings, ports } = await runThrough(failures);
  assertEquals(pauses, Array(6).fill(8));
  assertEquals(warnings, [CLOSED]);
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
  const closedAt: number[] = [];
  const serve = (signal: AbortSignal) =>
    new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => {
        closedAt.push(simulation.residentBytes / 1e6);
        resolve();
      })
    );
  const wait = async (milliseconds: number) => {
    await delay(0);
    if (milliseconds !== MEMORY_CHECK_MS) return;
    const size = sizes.shift();
    if (size === undefined) simulation.stop.abort();
    simulation.residentBytes = (size ?? 0) * 1e6;
  };
  const simulation = simulate(serve, wait);
  await simulation.running;
  return { closedAt, warnings: simulation.warnings };
}

Deno.test("runServer() closes all connections when the process grows too large", async () => {
  const { closedAt, warnings } = await runWithMemory(90, 192, 193, 90, 192);
  assertEquals(closedAt, [193]);
  const reason = "Error: Too much memory in use";
  assertEquals(warnings, [CLOSED.replace(`${EMFILE}`, reason)]);
});

Deno.test("runServer() accepts that closed connections leave the process larger", async () => {
  const { closedAt } = await runWithMemory(90, 300, 250, 314, 315, 300, 90);
  assertEquals(closedAt, [300, 315]);
});

/** Runs a server whose first listener can be made to fail. */
function failOnce() {
  const failure = Promise.withResolvers<void>();
  const pause = Promise.withResolvers<void>();
  const paused = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const simulation = simulate(
    (signal) => signals.push(signal) > 1 ? NEVER : failure.promise,
    (milliseconds) => {
      if (milliseconds > 8) return NEVER; // no retry
      paused.resolve();
      return pause.promise;
    },
  );
  const fail = () => failure.reject(EMFILE);
  return { ...simulation, fail, pause, paused: paused.promise, signals };
}

Deno.test("runServer() listens again only after the pause", async () => {
  const { fail, pause, paused, signals } = failOnce();
  fail();
  await paused;
  await delay(0); // all that does not wait is done
  assertEquals(signals.length, 1);
  pause.resolve();
  await waitFor(() => signals.length === 2);
});

Deno.test("runServer() stops while it waits to listen again", async () => {
  const { stop, fail, pause, paused, signals, running } = failOnce();
  fail();
  await paused;
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
