import { assertEquals, assertMatch } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { withAccessLog } from "../../src/access_log.ts";
import { DEFAULTS } from "../../src/config.ts";
import { createConsole } from "../../src/console.ts";
import { runServer } from "../../src/server.ts";
import { get } from "../helpers/network.ts";
import { delay, waitFor } from "../helpers/wait.ts";

const CONFIG = { ...DEFAULTS, hostname: "127.0.0.1", port: 0 };

/** Runs a server around a handler that throws, and asks it once. */
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
    false,
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

Deno.test("runServer() tells a client nothing of a handler that throws", async () => {
  const { response, body } = await fail("DEBUG");
  assertEquals(response.status, 500);
  const type = response.headers.get("content-type");
  assertEquals(type, "application/problem+json");
  assertEquals(body, {
    type: "about:blank",
    title: "Internal Server Error",
    status: 500,
    detail: "The sensor data cannot be had at the moment",
  });
});

Deno.test("runServer() lets other origins read its error with CORS only", async () => {
  for (const [cors, origin] of [[true, "*"], [false, null]] as const) {
    const { headers } = (await fail("INFO", cors)).response;
    assertEquals(headers.get("access-control-allow-origin"), origin);
  }
});

Deno.test("runServer() logs a handler that throws, its stack in debug mode", async () => {
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

Deno.test("runServer() logs a handler that throws without its stack otherwise", async () => {
  const { lines } = await fail("INFO");
  assertEquals(lines.slice(1), [
    "ERROR The handler failed: TypeError: The sensor is on fire",
  ]);
});

Deno.test("runServer() logs what is thrown and no error, which has no stack", async () => {
  const { lines } = await fail("DEBUG", false, "on fire");
  assertEquals(lines.slice(1), ["ERROR The handler failed: on fire"]);
});

/** What comes of a server whose listener fails again and again. */
interface Failing {
  /** What Deno.serve throws, or its server rejects with, every other time. */
  message: string;
  /** How often, before the program is to stop. */
  times: number;
  /** How long it goes well before each failure, in ms. */
  calm?: number;
}

/** Returns a failing server's pauses, in ms, its warnings and its addresses. */
async function failToListen({ message, times, calm = 0 }: Failing) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const warnings: string[] = [];
  const ports: number[] = [];
  let open = 0;
  let calls = 0;
  let now = 0;
  const serve = ({ port, signal }: { port: number; signal: AbortSignal }) => {
    ports.push(port);
    now += calm;
    if (calls++ === times) stop.abort();
    if (calls % 2 === 0) throw new Deno.errors.AddrInUse(message);
    open++;
    signal.addEventListener("abort", () => open--);
    const finished = stop.signal.aborted
      ? Promise.resolve()
      : Promise.reject(new Error(message));
    return {
      finished,
      addr: { hostname: "127.0.0.1", port: 5000 },
      shutdown: () => finished,
    };
  };
  const world = {
    serve: serve as unknown as typeof Deno.serve,
    delay: (milliseconds: number) => {
      if (!stop.signal.aborted) {
        assertEquals(open, 0, "Connections are left open");
        pauses.push(milliseconds);
      }
      return Promise.resolve();
    },
    now: () => now,
  };
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  await runServer(CONFIG, () => new Response(), logger, stop.signal, world);
  return { pauses, warnings, ports };
}

const ABORTED = "Software caused connection abort (os error 103)";

Deno.test("runServer() listens again after any failure, with growing pauses", async () => {
  const { pauses, warnings, ports } = await failToListen({
    message: ABORTED,
    times: 12,
  });
  const doubled = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
  assertEquals(pauses, [...doubled, 1000, 1000]);
  assertEquals(warnings, [
    `Closed all connections to listen again after "Error: ${ABORTED}"`,
  ]);
  // The port that 0 took at the first time
  assertEquals(ports, [0, ...Array(12).fill(5000)]);
});

Deno.test("runServer() listens again soon when the descriptors ran out", async () => {
  const { pauses } = await failToListen({
    message: "Too many open files (os error 24)",
    times: 6,
  });
  assertEquals(pauses, [1, 2, 4, 8, 8, 8]);
});

Deno.test("runServer() takes a failure after 10 s as the first one", async () => {
  const often = await failToListen({
    message: ABORTED,
    times: 4,
    calm: 10_000,
  });
  assertEquals([often.pauses, often.warnings.length], [[1, 2, 4, 8], 1]);
  const seldom = await failToListen({
    message: ABORTED,
    times: 4,
    calm: 10_001,
  });
  assertEquals([seldom.pauses, seldom.warnings.length], [[1, 1, 1, 1], 4]);
});

/** Runs a server whose first listener fails when it is told to. */
function failOnce() {
  const stop = new AbortController();
  const failure = Promise.withResolvers<void>();
  const pause = Promise.withResolvers<void>();
  const paused = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const warnings: string[] = [];
  const world = {
    serve: (({ signal }: { signal: AbortSignal }) => {
      const again = signals.push(signal) > 1;
      const finished = again ? new Promise(() => {}) : failure.promise;
      const addr = { hostname: "127.0.0.1", port: 5000 };
      return { finished, addr, shutdown: () => Promise.resolve() };
    }) as unknown as typeof Deno.serve,
    delay: (milliseconds: number) => {
      if (milliseconds > 1) return new Promise<void>(() => {}); // the grace
      paused.resolve();
      return pause.promise;
    },
    now: () => 0,
  };
  const warn = (line: string) => warnings.push(line);
  const logger = { info() {}, warn } as unknown as Logger;
  const running = runServer(
    CONFIG,
    () => new Response(),
    logger,
    stop.signal,
    world,
  );
  const fail = () => failure.reject(new Error(ABORTED));
  return { stop, fail, pause, paused, signals, warnings, running };
}

Deno.test("runServer() listens again only behind the pause", async () => {
  const { fail, pause, paused, signals } = failOnce();
  fail();
  await paused.promise;
  await delay(0); // all that does not wait is done
  assertEquals(signals.length, 1);
  pause.resolve();
  await waitFor(() => signals.length === 2);
});

Deno.test("runServer() ends when it is stopped while it waits to listen again", async () => {
  const { stop, fail, pause, paused, signals, running } = failOnce();
  fail();
  await paused.promise;
  stop.abort();
  pause.resolve();
  await running;
  assertEquals(signals.length, 1);
});

Deno.test("runServer() leaves requests alone that run while it fails to stop", async () => {
  const { stop, fail, signals, warnings, running } = failOnce();
  stop.abort();
  fail();
  await running;
  assertEquals([signals.length, signals[0]?.aborted], [1, false]);
  assertEquals(warnings, []);
});
