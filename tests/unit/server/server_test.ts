// The server's failures, memory and stop, with a fake clock and Deno.serve.

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { DEFAULTS } from "../../../src/config.ts";
import { RUNTIME } from "../../../src/server/recovery.ts";
import { runServer } from "../../../src/server/server.ts";
import { delay, within } from "../../helpers/wait.ts";

const EMFILE = new Error("Too many open files (os error 24)");
const IN_USE = new Deno.errors.AddrInUse(); // thrown by Deno.serve

/**
 * What happens while the server listens, or tries to: an error, a memory check (the
 * size of the process in MB), or the server ends by itself.
 */
type Happening = Error | number | "end";

type ServeOptions = Deno.ServeTcpOptions & Deno.ServeInit;

const UPTIME_MS = 979; // before an error; the pauses after it make it a second

/**
 * Runs a server in a simulated process through all that happens, then stops it.
 *
 * @returns What it did and logged, in order.
 */
async function simulate(
  happenings: Happening[] = [],
  {
    cors = false,
    size = 60,
    canHold = true,
    stopError = undefined as Error | undefined, // accept fails while it stops
    stopAfter = "", // the event at which it is stopped
    stopSize = 0, // to which it grows while it stops
    onServe = (_options: ServeOptions, _pass: (ms: number) => void): void => {},
  } = {},
) {
  const events: string[] = [];
  const log: string[] = [];
  const checks: (() => void)[] = []; // each begins a memory check
  const stop = new AbortController();
  let now = 0;

  /** Lets the next thing happen to a server. */
  async function proceed(
    server: PromiseWithResolvers<void>,
    signal: AbortSignal,
  ): Promise<void> {
    await delay(0);
    if (signal.aborted) return;
    const next = happenings.shift();
    if (next === undefined) stop.abort();
    else if (next === "end") server.resolve();
    else if (next instanceof Error) {
      now += UPTIME_MS;
      server.reject(next);
    } else {
      size = next;
      for (const check of checks.splice(0)) check();
      proceed(server, signal);
    }
  }

  function serve(options: ServeOptions) {
    if (happenings[0] === IN_USE) throw happenings.shift();
    events.push(`listen on ${options.port}`);
    onServe(options, (ms) => now += ms);
    const signal = options.signal!;
    signal.onabort = () => events.push("close");
    const server = Promise.withResolvers<void>();
    proceed(server, signal);
    return {
      addr: { hostname: "127.0.0.1", port: 5000 },
      finished: server.promise,
      shutdown() {
        signal.onabort = () => events.push("BadResource"); // as Deno.serve throws
        if (stopSize) {
          size = stopSize;
          for (const check of checks.splice(0)) check();
        } else if (stopError) server.reject(stopError);
        else server.resolve();
      },
    };
  }

  const runtime = {
    serve,
    listen({ hostname, port, tcpBacklog }: Deno.TcpListenOptions) {
      if (!canHold) throw EMFILE;
      events.push(`hold ${hostname}:${port} with backlog ${tcpBacklog}`);
      return { [Symbol.dispose]: () => events.push("release") };
    },
    async delay(milliseconds: number) {
      now += milliseconds;
      await delay(0);
      const event = `${milliseconds} ms`;
      events.push(event);
      if (event === stopAfter) stop.abort();
    },
    async untilMemoryCheck() {
      await new Promise<void>((resolve) => checks.push(resolve));
      events.push(`${size} MB`);
    },
    now: () => now,
    residentBytes: () => size * 1e6,
  } as unknown as typeof RUNTIME;
  const write = (line: string) => log.push(line);
  const running = runServer(
    { ...DEFAULTS, hostname: "localhost", port: 0, cors },
    () => new Response(),
    { info() {}, warn: write, error: write, debug: write } as unknown as Logger,
    stop.signal,
    runtime,
  );
  await within(running, () => `still running: ${events.slice(-9)}`);
  return { events, log };
}

const ERROR = new TypeError("The sensor is on fire");

Deno.test("runServer() hides a handler's error from the client", async () => {
  for (const cors of [true, false]) {
    let response = new Response();
    await simulate([], {
      cors,
      onServe: ({ onError }) => response = onError!(ERROR) as Response,
    });
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

Deno.test("runServer() logs a handler's error and its stack", async () => {
  const { log } = await simulate([], {
    onServe({ onError }) {
      onError!(ERROR);
      onError!("on fire");
    },
  });
  const message = "The handler failed: ";
  assertEquals(log, [`${message}${ERROR}`, ERROR.stack, `${message}on fire`]);
});

const closed = (reason: string | Error) =>
  `Closed all connections to recover from "${reason}"`;
const CLOSED = closed(EMFILE);
const CLOSING = "Connections are no longer kept alive";
const TAKEN =
  'Cannot listen on "127.0.0.1", port 5000: another program uses the port';
const again = (seconds: string) => `Listening again after ${seconds} s`;

const HOLD = "hold 127.0.0.1:5000 with backlog 0";
const RELEASE = [HOLD, "20 ms", "close", "1 ms", "release"];
const LISTEN = "listen on 5000"; // the port that it had before

Deno.test("runServer() answers the last client before it closes all connections and listens again, on the same port", async () => {
  const { events, log } = await simulate(Array(6).fill(EMFILE));
  const cycles = Array(6).fill([...RELEASE, LISTEN]);
  assertEquals(events, ["listen on 0", ...cycles.flat()]);
  assertEquals(log, [CLOSED, CLOSING]);
});

Deno.test("runServer() listens again even if it cannot hold the port", async () => {
  const { events } = await simulate([EMFILE], { canHold: false });
  assertEquals(events, ["listen on 0", "20 ms", "close", "1 ms", LISTEN]);
});

Deno.test("runServer() listens again if the server ends without being stopped", async () => {
  const { events, log } = await simulate(["end"]);
  assertEquals(events.at(-1), LISTEN);
  assertEquals(log, [closed("Error: The server has ended"), CLOSING]);
});

Deno.test("runServer() logs why it cannot listen, and when it listens again", async () => {
  const { events, log } = await simulate([EMFILE, ...Array(25).fill(IN_USE)]);
  const retries = Array(25).fill("200 ms");
  assertEquals(events, ["listen on 0", ...RELEASE, ...retries, LISTEN]);
  assertEquals(log, [CLOSED, CLOSING, TAKEN, again("5.0")]);
});

Deno.test("runServer() repeats a reason once a minute", async () => {
  const { log } = await simulate([EMFILE, ...Array(650).fill(IN_USE)]);
  assertEquals(log, [CLOSED, CLOSING, TAKEN, TAKEN, TAKEN, again("130.0")]);
  const flood = await simulate(Array(121).fill(EMFILE));
  assertEquals(flood.log, [CLOSED, CLOSING, CLOSED, CLOSED]);
});

Deno.test("runServer() logs each reason at once, and why it cannot listen in each outage", async () => {
  const other = new Error("Software caused connection abort (os error 103)");
  const outage = [EMFILE, IN_USE, other];
  const { log } = await simulate([...outage, ...outage]);
  const taken = [TAKEN, again("0.2")];
  assertEquals(log, [CLOSED, CLOSING, ...taken, closed(other), ...taken]);
});

Deno.test("runServer() accepts fewer clients at once, and keeps none of them, after accept has failed", async () => {
  const answers: unknown[] = [];
  await simulate([EMFILE], {
    onServe({ tcpBacklog, handler, onError }) {
      const info = { remoteAddr: {} } as Deno.ServeHandlerInfo;
      const responses = [handler({} as Request, info), onError!(ERROR)];
      const fields = (responses as Response[])
        .map(({ headers }) => headers.get("connection"));
      answers.push([tcpBacklog, ...fields]);
    },
  });
  assertEquals(answers, [[undefined, null, null], [16, "close", "close"]]);
});

Deno.test("runServer() keeps connections alive again ten minutes after accept last failed", async () => {
  const fields: unknown[] = [];
  const { log } = await simulate([EMFILE, EMFILE, EMFILE], {
    onServe({ handler }, pass) {
      const info = { remoteAddr: {} } as Deno.ServeHandlerInfo;
      const request = () => {
        const { headers } = handler({} as Request, info) as Response;
        fields.push(headers.get("connection"));
      };
      request();
      pass(599_900); // the pauses before it listens again take less than 100 ms
      request();
      pass(100);
      if (fields.length > 6) request();
    },
  });
  const closing = Array(6).fill("close");
  assertEquals(fields, [null, null, ...closing, null]);
  const back = "Connections are kept alive again";
  assertEquals(log, [CLOSED, CLOSING, CLOSED, CLOSED, back]);
});

Deno.test("runServer() closes all connections when the process grows too large", async () => {
  const { events, log } = await simulate([90, 144, 145, 90, 144]);
  assertEquals(events, [
    ...["listen on 0", "90 MB", "144 MB", "145 MB"],
    ...["close", "1 ms", HOLD, "500 ms", "1 ms", "release"],
    ...[LISTEN, "90 MB", "144 MB"],
  ]);
  assertEquals(log, [closed("Error: Too much memory in use")]);
});

Deno.test("runServer() notices growth before its second memory check", async () => {
  const { events } = await simulate([900, 90]);
  assertEquals(events.slice(0, 3), ["listen on 0", "900 MB", "close"]);
});

Deno.test("runServer() raises the memory limit if closing connections frees no memory", async () => {
  const { events } = await simulate([90, 300, 250, 314, 315, 300, 90]);
  const closedAt = events.join(" ").match(/\d+(?= MB close)/g);
  assertEquals(closedAt, ["300", "315"]);
});

Deno.test("runServer() runs only one memory check after it listens again", async () => {
  const { events } = await simulate([EMFILE, 91, 92]);
  // The check of the closed server ends with the first size
  assertEquals(events.slice(-4), [LISTEN, "91 MB", "91 MB", "92 MB"]);
});

Deno.test("runServer() checks its memory several times a second", async () => {
  const start = performance.now();
  await RUNTIME.untilMemoryCheck();
  const duration = performance.now() - start;
  assert(duration < 1000, `It took ${duration} ms`);
});

Deno.test("runServer() warns that it cannot measure memory", async () => {
  const { log } = await simulate([], { size: 0 });
  const warning = "Memory is not limited: it cannot be measured without /proc";
  assertEquals(log, [warning]);
});

Deno.test("runServer() lets running requests finish if accept fails while it stops", async () => {
  const { events, log } = await simulate([], { stopError: EMFILE });
  assertEquals(events, ["listen on 0", "1800 ms"]);
  assertEquals(log, []);
});

Deno.test("runServer() does not shut down a server that has failed", async () => {
  const { events } = await simulate([EMFILE], { stopAfter: "20 ms" });
  assertEquals(events, ["listen on 0", HOLD, "20 ms", "close", "1800 ms"]);
});

Deno.test("runServer() ends at once if the process grows too large while it stops", async () => {
  const { events } = await simulate([], { stopSize: 900 });
  assertEquals(events, ["listen on 0", "900 MB"]);
});
