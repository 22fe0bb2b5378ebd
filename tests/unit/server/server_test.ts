// The server with a simulated system: what clients, the operator and the port see.

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Logger } from "@std/log/logger";
import { DEFAULTS } from "../../../src/config.ts";
import { Descriptors } from "../../../src/server/descriptors.ts";
import type { Runtime } from "../../../src/server/runtime.ts";
import { Server } from "../../../src/server/server.ts";
import { CLIENT } from "../../helpers/network.ts";

const EMFILE = new Error("Too many open files (os error 24)");

type ServeOptions = Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>;

/** A system with a server, its port and a clock. */
class System {
  readonly log: string[] = [];
  readonly reported: string[] = []; // at the start
  /** What happens to clients that connect: how long, in ms, so far. */
  readonly clients = { answered: 0, waiting: 0, refused: 0 };
  megabytes = 60;
  isPortTaken = false;
  canHoldPort = true;
  journal = false;
  options!: ServeOptions; // of the last Deno.serve
  connections = 0;
  isRunning = true;
  readonly stopper = new AbortController();
  readonly #timers: { at: number; wake: () => void }[] = [];
  #finished = Promise.withResolvers<void>();
  #port: keyof System["clients"] = "refused";
  #now = 0;

  /** Starts a server with ten connections. */
  static async start(init: Partial<System> = {}): Promise<System> {
    const system = Object.assign(new System(), init);
    system.run().then(() => system.isRunning = false);
    assertEquals(system.options.port, 0);
    system.connections = 10;
    await system.pass(0);
    return system;
  }

  /** Runs a server until it is stopped, or cannot start. */
  run(): Promise<void> {
    const write = (line: string) => this.log.push(line);
    const report = (line: string) => this.reported.push(line);
    const log = { info: report, warn: write, error: write, debug: write };
    const logger = log as unknown as Logger;
    const descriptors = new Descriptors(logger, this.#runtime.now);
    const handler = descriptors.withClosing(() => new Response());
    const { journal } = this;
    const server = new Server(
      { ...DEFAULTS, hostname: "localhost", port: 0, journal },
      {
        handler: (request) => handler(request, { client: "", target: "/" }),
        onError: () => new Response(),
      },
      descriptors,
      logger,
      this.#runtime as unknown as Runtime,
    );
    return server.run(this.stopper.signal);
  }

  #runtime = {
    serve: (options: ServeOptions) => {
      if (this.isPortTaken) throw new Deno.errors.AddrInUse();
      assert(options.onError, "Deno would answer and print errors itself");
      assertEquals(this.#port, "refused", "The port is open or held");
      assertEquals(this.connections, 0, "Connections still take descriptors");
      this.options = options;
      const finished = this.#finished = Promise.withResolvers<void>();
      let isShutDown = false;
      options.signal!.onabort = () => {
        if (isShutDown) this.log.push("BadResource"); // which Deno would throw
        // The kernel closes them soon
        this.#runtime.delay(1).then(() => this.connections = 0);
        if (this.#port === "answered") this.#port = "refused";
        finished.resolve();
      };
      this.#port = "answered";
      const shutdown = () => {
        isShutDown = true;
        this.#port = "refused";
        if (this.connections === 0) finished.resolve();
      };
      const addr = { hostname: "127.0.0.1", port: 5000 };
      return { addr, finished: finished.promise, shutdown };
    },
    listen: ({ hostname, port, tcpBacklog }: Deno.TcpListenOptions) => {
      assertEquals([hostname, port, tcpBacklog], ["127.0.0.1", 5000, 0]);
      assertEquals(this.#port, "refused", "The port is open or held");
      if (!this.canHoldPort || this.isPortTaken) throw EMFILE;
      this.#port = "waiting";
      return { [Symbol.dispose]: () => this.#port = "refused" };
    },
    delay: (ms: number) =>
      new Promise<void>((wake) =>
        this.#timers.push({ at: this.#now + ms, wake })
      ),
    now: () => this.#now,
    residentBytes: () => this.megabytes * 1e6,
  };

  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    while (true) {
      // Runs what the last timer has woken: no chain of promises is longer
      for (let turns = 0; turns < 20; turns++) await null;
      const [next] = this.#timers.sort((a, b) => a.at - b.at);
      const until = Math.min(next?.at ?? end, end);
      this.clients[this.#port] += until - this.#now;
      this.#now = until;
      if (!next || next.at > end) return;
      this.#timers.shift()!.wake();
    }
  }

  /** Makes accept fail, or the server end without a reason. */
  fail(error?: Error): void {
    this.#port = "refused";
    if (error) this.#finished.reject(error);
    else this.#finished.resolve();
  }

  /** Sends a request, and returns what happens to its connection. */
  request(): string | null {
    const request = new Request("http://board/datasensor");
    const response = this.options.handler(request, CLIENT) as Response;
    return response.headers.get("connection");
  }

  /** Asserts that it serves on the port that it had, and keeps nothing. */
  assertServes(...log: string[]): void {
    const { hostname, port } = this.options;
    assertEquals([hostname, port], ["127.0.0.1", 5000]);
    assertEquals([this.#port, this.connections], ["answered", 0]);
    assert(this.#timers.length < 5, `${this.#timers.length} timers`);
    assertEquals(this.log, log);
  }
}

const closed = (reason: string | Error) =>
  `Closed all connections to recover from "${reason}"`;
const CLOSED = closed(EMFILE);
const CLOSING = "Connections are no longer kept alive";
const KEEPING = "Connections are kept alive again";
const REMEDY = "Stop that program, or choose another port with --port";
const TAKEN =
  `Cannot listen on "127.0.0.1", port 5000: another program uses the port. ${REMEDY}`;
const TOO_LARGE = closed("Error: Too much memory in use");

for (const canHoldPort of [true, false]) {
  const others = canHoldPort ? "wait" : "are refused";
  Deno.test(`Server answers the last client, closes all connections and listens again, while others ${others}`, async () => {
    const system = await System.start({ canHoldPort });
    system.fail(EMFILE);
    await system.pass(5);
    assertEquals(system.connections, 10);
    await system.pass(495);
    system.assertServes(CLOSED, CLOSING);
    assertEquals(system.clients.refused === 0, canHoldPort);
  });
}

Deno.test("Server logs why it cannot listen once a minute, and when it can again", async () => {
  const system = await System.start();
  for (let outage = 0; outage < 2; outage++) {
    system.isPortTaken = true;
    system.fail(EMFILE);
    await system.pass(130_000);
    system.isPortTaken = false;
    await system.pass(1000);
  }
  const [end, ...others] = system.log.filter((line) => /^List/.test(line));
  assert(/^Listening after 130\.\d s$/.test(end!), end);
  assertEquals(others, [end]);
  const outage = [CLOSED, TAKEN, TAKEN, TAKEN, end!];
  system.assertServes(...outage.toSpliced(1, 0, CLOSING), ...outage);
});

const START_TAKEN =
  'Cannot listen on "localhost", port 0: another program uses the port';

Deno.test("Server throws at the start if it cannot listen, but with --journal it retries, logging why once a minute", async () => {
  const init = { isPortTaken: true, journal: true };
  const system = Object.assign(new System(), init);
  system.run();
  await system.pass(130_000);
  const warning = `${START_TAKEN}. ${REMEDY}`;
  assertEquals(system.log, [warning, warning, warning]);
  assertEquals(system.reported, []);
  system.isPortTaken = false;
  await system.pass(1000);
  assertMatch(system.log[3]!, /^Listening after 130\.\d s$/);
  assertMatch(system.reported[1]!, /http:\/\/127\.0\.0\.1:5000\//);

  const terminal = Object.assign(new System(), { isPortTaken: true });
  const error = await terminal.run().catch(String);
  assertEquals(error, `Error: ${START_TAKEN}\n${REMEDY}`);
  assertEquals([terminal.log, terminal.reported], [[], []]);
});

Deno.test("Server stops while it retries to start", async () => {
  const init = { isPortTaken: true, journal: true };
  const system = Object.assign(new System(), init);
  system.run().then(() => system.isRunning = false);
  await system.pass(10_000);
  system.stopper.abort();
  await system.pass(200);
  assertEquals([system.isRunning, system.reported], [false, []]);
});

Deno.test("Server logs each new failure at once, and the same one once a minute", async () => {
  const system = await System.start();
  for (let failures = 0; failures < 242; failures++) {
    system.fail(EMFILE);
    await system.pass(500); // it listens again
  }
  const other = new Error("Software caused connection abort (os error 103)");
  system.fail(other);
  await system.pass(1000);
  system.fail(); // Deno.serve ends without being stopped
  await system.pass(1000);
  const ended = closed("Error: The server has ended");
  system.assertServes(CLOSED, CLOSING, CLOSED, CLOSED, closed(other), ended);
});

Deno.test("Server keeps no connection alive until ten minutes after accept last failed", async () => {
  const system = await System.start();
  assertEquals(system.request(), null);
  system.fail(EMFILE);
  await system.pass(300_000);
  system.fail(EMFILE);
  await system.pass(599_000);
  assertEquals(system.request(), "close");
  await system.pass(2000);
  assertEquals([system.request(), system.request()], [null, null]);
  system.assertServes(CLOSED, CLOSING, CLOSED, KEEPING);
  system.fail(EMFILE);
  await system.pass(500);
  assertEquals(system.request(), "close");
  system.assertServes(CLOSED, CLOSING, CLOSED, KEEPING, CLOSED, CLOSING);
});

Deno.test("Server lets fewer clients wait when descriptors run out again within 10 s", async () => {
  const system = await System.start();
  const fail = async (milliseconds: number) => {
    system.fail(EMFILE);
    await system.pass(milliseconds);
    return system.options.tcpBacklog;
  };
  assertEquals(await fail(9900), undefined);
  assertEquals(await fail(10_100), 128);
  assertEquals(await fail(500), undefined);
});

Deno.test("Server closes all connections soon after the process grew too large", async () => {
  const system = await System.start();
  system.megabytes = 144;
  await system.pass(5000);
  assertEquals(system.connections, 10);
  system.megabytes = 145;
  await system.pass(500);
  assertEquals(system.connections, 0);
  system.megabytes = 60;
  await system.pass(1000);
  const { waiting, refused } = system.clients;
  assert(waiting > 100 && refused < 5, "Clients do not wait for the memory");
  assertEquals(system.request(), null);
  system.assertServes(TOO_LARGE);
});

Deno.test("Server raises its memory limit if closing connections frees no memory", async () => {
  const system = await System.start({ megabytes: 300 });
  await system.pass(5000);
  assertEquals(system.connections, 10);
  system.megabytes = 250;
  await system.pass(1000);
  system.megabytes = 314;
  await system.pass(5000);
  assertEquals(system.connections, 10);
  system.megabytes = 315;
  await system.pass(5000);
  system.assertServes(TOO_LARGE);
});

Deno.test("Server warns that it cannot measure memory", async () => {
  const { log } = await System.start({ megabytes: 0 });
  const warning = "Memory is not limited: it cannot be measured without /proc";
  assertEquals(log, [warning]);
});

/** What happens while requests run after a stop, and for how long they may, in ms. */
const STOPS: [what: string, happen: (system: System) => void, ms: number][] = [
  ["", () => {}, 1800],
  [" if accept fails", (system) => system.fail(EMFILE), 1800],
  [" unless memory runs out", (system) => system.megabytes = 900, 200],
];

for (const [what, happen, milliseconds] of STOPS) {
  Deno.test(`Server lets running requests finish${what}, but not forever`, async () => {
    const system = await System.start();
    system.stopper.abort();
    happen(system);
    await system.pass(milliseconds - 100);
    assertEquals([system.isRunning, system.connections], [true, 10]);
    await system.pass(200);
    assertEquals([system.isRunning, system.log], [false, []]);
  });
}

Deno.test("Server stops at once without running requests, and while it recovers", async () => {
  for (const isFailing of [false, true]) {
    const system = await System.start();
    if (isFailing) system.fail(EMFILE);
    await system.pass(1);
    system.connections = 0;
    system.stopper.abort();
    await system.pass(500);
    assertEquals(system.isRunning, false);
    assert(!system.log.includes("BadResource"));
  }
});

/** What a server does when it is told to stop, and what makes it do so. */
const ACTIVITIES: [what: string, init: Partial<System>, failure?: Error][] = [
  ["starts", {}],
  ["retries to start", { isPortTaken: true, journal: true }],
  ["recovers from EMFILE", {}, EMFILE],
  ["recovers from a lack of memory", { megabytes: 60 }],
];

for (const [what, init, failure] of ACTIVITIES) {
  Deno.test(`Server stops at whichever microtask it is told to while it ${what}`, async () => {
    for (let microtasks = 0; microtasks < 200; microtasks++) {
      const system = Object.assign(new System(), init);
      if (microtasks === 0) system.stopper.abort(); // before it runs
      system.run().then(() => system.isRunning = false);
      if (failure) system.fail(failure);
      else if (init.megabytes) system.megabytes = 145;
      const passed = system.pass(1000);
      for (let count = 1; count < microtasks; count++) await null;
      system.stopper.abort();
      await passed;
      await system.pass(2000);
      assertEquals(system.isRunning, false, `after ${microtasks} microtasks`);
      const { answered } = system.clients;
      await system.pass(1000);
      assertEquals(system.clients.answered, answered, "The port is open");
    }
  });
}
