// The server's failures, memory and stop, with a fake clock and Deno.serve.

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { type Config, DEFAULTS } from "../../src/config.ts";
import { runServer, RUNTIME } from "../../src/server.ts";
import { delay, waitFor, within } from "../helpers/wait.ts";

const CONFIG = { ...DEFAULTS, hostname: "127.0.0.1", port: 0 };

const NEVER = new Promise<never>(() => {});

interface SimulationOptions {
  /** Listens, and returns the server's `finished` promise. */
  serve?: (signal: AbortSignal, port: number) => Promise<void>;
  /** Resolves after a time, in ms. */
  wait?: (milliseconds: number) => Promise<void>;
  /** Listens without accepting. */
  hold?: (options: Deno.TcpListenOptions) => Disposable;
  /** Resolves when the memory is to be checked. */
  untilMemoryCheck?: () => Promise<void>;
  residentBytes?: number;
  config?: Config;
}

/** Runs a server in a simulated process. */
function simulate({
  serve = () => NEVER,
  wait = () => NEVER,
  hold = () => ({ [Symbol.dispose]() {} }),
  untilMemoryCheck = () => NEVER,
  residentBytes = 1,
  config = CONFIG,
}: SimulationOptions = {}) {
  let options: Deno.ServeTcpOptions & Deno.ServeInit;
  const simulation = {
    now: 0,
    residentBytes,
    stop: new AbortController(),
    lines: [] as string[],
    running: Promise.resolve(),
    /** How many clients may wait to be accepted. */
    backlog: () => options.tcpBacklog,
    /** Responds to a request. */
    respond: () => options.handler({} as Request, {} as never) as Response,
    /** Responds to an error that a handler has thrown. */
    fail: (error: unknown) => options.onError!(error) as Response,
  };
  const runtime = {
    serve: (given: typeof options) => {
      options = given;
      const finished = serve(options.signal!, options.port!);
      const addr = { hostname: "127.0.0.1", port: 5000 };
      return { finished, addr, shutdown: () => Promise.resolve() };
    },
    listen: hold,
    delay: wait,
    untilMemoryCheck,
    now: () => simulation.now,
    residentBytes: () => simulation.residentBytes,
  } as unknown as typeof RUNTIME;
  const log = (line: string) => simulation.lines.push(line);
  const logger = { info() {}, warn: log, error: log, debug: log };
  simulation.running = runServer(
    config,
    () => new Response(),
    logger as unknown as Logger,
    simulation.stop.signal,
    runtime,
  );
  return simulation;
}

const ERROR = new TypeError("The sensor is on fire");

Deno.test("runServer() hides a handler's error from the client", async () => {
  for (const cors of [true, false]) {
    const { fail } = simulate({ config: { ...CONFIG, cors } });
    const response = fail(ERROR);
    const { status, headers } = response;
    assertEquals(headers.get("content-type"), "application/problem+json");
    assertEquals(headers.has("access-control-allow-origin"), cors);
    assertEquals([status, await response.json()], [500, {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The sensor data is not available at the moment",
    }]);
  }
});

Deno.test("runServer() logs a handler's error and its stack", () => {
  const { fail, lines } = simulate();
  fail(ERROR);
  fail("on fire");
  const message = "The handler failed: ";
  assertEquals(lines, [
    `${message}${ERROR}`,
    ERROR.stack,
    `${message}on fire`,
  ]);
});

const EMFILE = new Error("Too many open files (os error 24)");
const CLOSED = `Closed all connections to recover from "${EMFILE}"`;
const IN_USE = new Deno.errors.AddrInUse();
const TAKEN =
  'Cannot listen on "127.0.0.1", port 5000: another program uses the port';

const CLOSING = "Connections are no longer kept alive";

/** The time until a failure, in ms, and its error. */
type Failure = [lasted: number, error: Error];

/**
 * Runs a server through failures: Deno.serve throws AddrInUse, and its server
 * rejects with any other error.
 *
 * @returns In `pauses`, how long it waited and in which state.
 */
async function runThrough(failures: Failure[]) {
  const pauses: string[] = [];
  const ports: number[] = [];
  let open = 0;
  let held = 0; // the port that is held
  let isPausing = false;
  const serve = (signal: AbortSignal, port: number) => {
    if (isPausing) throw new Error("It listens before the pause is over");
    assertEquals(held, 0, "The port is still held");
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
  const hold = ({ hostname, port, tcpBacklog }: Deno.TcpListenOptions) => {
    assertEquals([hostname, port, tcpBacklog], ["127.0.0.1", 5000, 0]);
    held = port!;
    return { [Symbol.dispose]: () => held = 0 };
  };
  const wait = async (milliseconds: number) => {
    if (!simulation.stop.signal.aborted) {
      const state = `${held ? ", held" : ""}${open ? ", open" : ""}`;
      pauses.push(`${milliseconds}${state}`);
      simulation.now += milliseconds;
      isPausing = true;
    }
    await delay(0);
    isPausing = false;
  };
  const simulation = simulate({ serve, wait, hold });
  await within(simulation.running, () => `still running: ${pauses}`);
  return { pauses, ports, warnings: simulation.lines };
}

Deno.test("runServer() answers the last client before it closes all connections and listens again, on the same port", async () => {
  const failures: Failure[] = Array(6).fill([100, EMFILE]);
  const { pauses, warnings, ports } = await runThrough(failures);
  assertEquals(pauses, Array(6).fill(["20, held, open", "1, held"]).flat());
  assertEquals(warnings, [CLOSED, CLOSING]);
  assertEquals(ports, [0, ...Array(6).fill(5000)]);
});

Deno.test("runServer() listens again if the server ends without being stopped", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = [Promise.resolve(), NEVER];
  const { lines } = simulate({
    serve: () => {
      if (ended.length === 1) resolve();
      return ended.shift()!;
    },
    wait: () => delay(0),
  });
  await within(promise, () => `not listening: ${lines}`);
  const reason = "Error: The server has ended";
  assertEquals(lines, [CLOSED.replace(`${EMFILE}`, reason), CLOSING]);
});

Deno.test("runServer() logs why it cannot listen, and when it listens again", async () => {
  const failures: Failure[] = Array(25).fill([0, IN_USE]);
  const { pauses, warnings } = await runThrough([[100, EMFILE], ...failures]);
  assertEquals(pauses.slice(2), Array(25).fill("200"));
  const again = "Listening again after 5.0 s";
  assertEquals(warnings, [CLOSED, CLOSING, TAKEN, again]);
});

Deno.test("runServer() repeats a reason once a minute", async () => {
  const failures: Failure[] = Array(650).fill([0, IN_USE]);
  const { warnings } = await runThrough([[0, EMFILE], ...failures]);
  const again = "Listening again after 130.0 s";
  assertEquals(warnings, [CLOSED, CLOSING, TAKEN, TAKEN, TAKEN, again]);
  const flood = await runThrough(Array(121).fill([979, EMFILE]));
  assertEquals(flood.warnings, [CLOSED, CLOSING, CLOSED, CLOSED]);
});

Deno.test("runServer() logs each reason at once, including in later outages", async () => {
  const other = new Error("Software caused connection abort (os error 103)");
  const outage: Failure[] = [[0, EMFILE], [0, IN_USE], [0, other]];
  const { warnings } = await runThrough([...outage, ...outage]);
  const again = "Listening again after 0.2 s";
  const closed = CLOSED.replace(`${EMFILE}`, `${other}`);
  const logged = [CLOSED, CLOSING, TAKEN, again, closed];
  assertEquals(warnings, [...logged, CLOSED, TAKEN, again, closed]);
});

/** Runs a server whose process has one of these sizes, in MB, at each check. */
async function runWithMemory(...sizes: number[]) {
  const closedAt: number[] = [];
  const pauses: string[] = [];
  let isHeld = false;
  const serve = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (isHeld) throw new Error("The port is still held");
      signal.addEventListener("abort", () => {
        closedAt.push(simulation.residentBytes / 1e6);
        resolve();
      });
    });
  const untilMemoryCheck = async () => {
    await delay(0);
    const size = sizes.shift();
    if (size === undefined) simulation.stop.abort();
    simulation.residentBytes = (size ?? 0) * 1e6;
  };
  const simulation = simulate({
    serve,
    hold: () => {
      isHeld = true;
      return { [Symbol.dispose]: () => isHeld = false };
    },
    wait: (milliseconds) => {
      pauses.push(`${milliseconds}${isHeld ? ", held" : ""}`);
      return delay(0);
    },
    untilMemoryCheck,
  });
  await within(simulation.running, () => `still running: ${closedAt}`);
  return { closedAt, pauses, warnings: simulation.lines };
}

Deno.test("runServer() closes all connections when the process grows too large", async () => {
  const sizes = [90, 144, 145, 90, 144];
  const { closedAt, pauses, warnings } = await runWithMemory(...sizes);
  assertEquals(closedAt, [145]);
  assertEquals(pauses.slice(0, 2), ["1", "500, held"]); // the last is the stop
  const reason = "Error: Too much memory in use";
  assertEquals(warnings, [CLOSED.replace(`${EMFILE}`, reason)]);
});

Deno.test("runServer() notices growth before its second memory check", async () => {
  const { closedAt } = await runWithMemory(900, 90);
  assertEquals(closedAt, [900]);
});

Deno.test("runServer() raises the memory limit if closing connections frees no memory", async () => {
  const { closedAt } = await runWithMemory(90, 300, 250, 314, 315, 300, 90);
  assertEquals(closedAt, [300, 315]);
});

Deno.test("runServer() checks its memory several times a second", async () => {
  const start = performance.now();
  await RUNTIME.untilMemoryCheck();
  const duration = performance.now() - start;
  assert(duration < 1000, `It took ${duration} ms`);
});

Deno.test("runServer() warns that it cannot measure memory", () => {
  const { lines } = simulate({ residentBytes: 0 });
  assertEquals(lines, [
    "Memory is not limited: it cannot be measured without /proc",
  ]);
});

/** Runs a server whose first listener can be made to fail. */
function failOnce(hold?: () => Disposable) {
  const failure = Promise.withResolvers<void>();
  const timeout = Promise.withResolvers<void>(); // of running requests
  const signals: AbortSignal[] = [];
  const checks: (() => void)[] = []; // each ends the wait before a memory check
  const simulation = simulate({
    serve: (signal) => signals.push(signal) > 1 ? NEVER : failure.promise,
    // Only the wait for running requests is that long
    wait: (milliseconds) =>
      milliseconds > 1000 ? timeout.promise : Promise.resolve(),
    hold,
    untilMemoryCheck: () => new Promise((resolve) => checks.push(resolve)),
  });
  const failAccept = () => failure.reject(EMFILE);
  return { ...simulation, failAccept, timeout, signals, checks };
}

Deno.test("runServer() accepts fewer clients at once, and keeps none of them, after accept has failed", async () => {
  const { backlog, respond, fail, failAccept, signals } = failOnce();
  const connections = () =>
    [respond(), fail(ERROR)].map(({ headers }) => headers.get("connection"));
  assertEquals([backlog(), ...connections()], [undefined, null, null]);
  failAccept();
  await waitFor(() => signals.length === 2);
  assertEquals([backlog(), ...connections()], [16, "close", "close"]);
});

Deno.test("runServer() listens again even if it cannot hold the port", async () => {
  const { failAccept, signals } = failOnce(() => {
    throw EMFILE;
  });
  failAccept();
  await waitFor(() => signals.length === 2);
});

Deno.test("runServer() runs only one memory check after it listens again", async () => {
  const { failAccept, signals, checks } = failOnce();
  failAccept();
  await waitFor(() => signals.length === 2);
  for (const endWait of checks.splice(0)) endWait();
  await delay(0);
  assertEquals(checks.length, 1);
});

Deno.test("runServer() lets running requests finish if accept fails while it stops", async () => {
  const { stop, failAccept, timeout, signals, lines, running } = failOnce();
  stop.abort();
  failAccept();
  let hasEnded = false;
  running.then(() => hasEnded = true);
  await delay(0);
  assertEquals(hasEnded, false);
  timeout.resolve();
  await running;
  assertEquals([signals.length, signals[0]?.aborted], [1, false]);
  assertEquals(lines, []);
});
