// The server with a simulated system: what clients, the operator and the port see.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Server } from "../../../src/server/server.ts";
import { EMFILE, FakeSystem } from "./fake_system.ts";
import { type Random, testProperty } from "../../helpers/random.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

/** A server on a simulated system, with its log. */
class Simulation {
  readonly log: string[] = [];
  readonly reported: string[] = []; // what is no problem
  readonly stopper = new AbortController();
  isRunning = true;
  /** Resolves when the server is stopped, or rejects if it cannot start. */
  readonly ended: Promise<void>;

  constructor(
    readonly system: FakeSystem,
    { retriesStart = false, isStopped = false } = {},
  ) {
    if (isStopped) this.stopper.abort();
    const logger = createTestLogger((line, level) =>
      (level === "WARN" ? this.log : this.reported).push(line)
    );
    const server = new Server(
      {
        hostname: "localhost",
        port: 0,
        debug: true,
        hasPage: false,
        mentionsCtrlC: !retriesStart,
        retriesStart,
      },
      { handler: () => new Response(), onError: () => new Response() },
      logger,
      system.system,
    );
    this.ended = server.run(this.stopper.signal).then(() => {
      this.isRunning = false;
    });
  }

  /** Starts a server with ten connections. */
  static async start(changes: Partial<FakeSystem> = {}): Promise<Simulation> {
    const system = Object.assign(new FakeSystem(), changes);
    const simulation = new Simulation(system);
    system.connections = 10;
    await system.pass(0);
    return simulation;
  }
}

/** Asserts that a server serves on the port that it had, and what it has logged. */
function assertServes({ system, log }: Simulation, ...lines: string[]): void {
  const { hostname, port } = system.options;
  assertEquals([hostname, port], ["127.0.0.1", 5000]);
  assertEquals([system.fate, system.connections], ["answered", 0]);
  assertEquals(log, lines);
}

const closed = (reason: string | Error) =>
  `Closed all connections to recover from "${reason}"`;
const CLOSED = closed(EMFILE);
const REMEDY = "Stop that program, or choose another port with --port";
const TAKEN =
  `Cannot listen on "127.0.0.1", port 5000: another program uses the port. ${REMEDY}`;
const TOO_LARGE = closed("Too much memory in use");

for (const canHoldPort of [true, false]) {
  const others = canHoldPort ? "wait" : "are refused";
  Deno.test(`Server answers the last client, closes all connections and listens again, while others ${others}`, async () => {
    const simulation = await Simulation.start({ canHoldPort });
    const { system } = simulation;
    assert(system.options.onError, "Deno would answer and print errors itself");
    system.fail(EMFILE);
    await system.pass(5);
    assertEquals(system.connections, 10);
    await system.pass(495);
    assertServes(simulation, CLOSED);
    const holding = ["hold 127.0.0.1:5000, backlog 0", "close all", "release"];
    assertEquals(system.events, [
      "serve localhost:0",
      ...canHoldPort ? holding : ["close all"],
      "serve 127.0.0.1:5000",
    ]);
    assertEquals(system.clients.refused === 0, canHoldPort);
  });
}

Deno.test("Server logs why it cannot listen once a minute, and when it can again", async () => {
  const simulation = await Simulation.start();
  const { system, reported } = simulation;
  reported.length = 0;
  for (let outage = 0; outage < 2; outage++) {
    system.isPortTaken = true;
    system.fail(EMFILE);
    await system.pass(130_000);
    system.isPortTaken = false;
    await system.pass(1000);
  }
  const [end, ...others] = reported;
  assertMatch(end!, /^Listening after 130\.\d s$/);
  assertEquals(others, [end]);
  const outage = [CLOSED, TAKEN, TAKEN, TAKEN];
  assertServes(simulation, ...outage, ...outage);
});

const START = 'Cannot listen on "localhost", port 0: ';
const START_TAKEN = `${START}another program uses the port`;

Deno.test("Server throws at the start if the port is taken, or retries if it is told to", async () => {
  const taken = () => Object.assign(new FakeSystem(), { isPortTaken: true });
  const system = taken();
  const { log, reported } = new Simulation(system, { retriesStart: true });
  await system.pass(1000);
  assertEquals([log, reported], [[`${START_TAKEN}. ${REMEDY}`], []]);
  system.isPortTaken = false;
  await system.pass(1000);
  assertMatch(reported.at(-1)!, /http:\/\/127\.0\.0\.1:5000\//);

  const terminal = new Simulation(taken());
  const error = await terminal.ended.catch(String);
  assertEquals(error, `Error: ${START_TAKEN}\n${REMEDY}`);
  assertEquals([terminal.log, terminal.reported], [[], []]);
});

Deno.test("Server throws at the start if no wait can mend it, even if it is told to retry", async () => {
  const system = Object.assign(new FakeSystem(), { serveError: EMFILE });
  const { ended, log } = new Simulation(system, { retriesStart: true });
  assertEquals(await ended.catch(String), `Error: ${START}${EMFILE}`);
  assertEquals(log, []);
});

type Event = (system: FakeSystem, random: Random) => void;

/** What may happen to a server that serves. */
const FAILURES_AND_CLIENTS: Event[] = [
  (system) => system.fail(EMFILE),
  (system) => system.fail(),
  (system) => system.megabytes = 900,
  (system, random) => system.connections = random.below(20),
];

/** What may happen at any time. */
const CHANGES: Event[] = [
  (system, random) => system.isPortTaken = random.pick([true, false]),
  (system, random) => system.canHoldPort = random.pick([true, false]),
  (system, random) => system.serveError = random.pick([EMFILE, undefined]),
];

testProperty(
  "Server recovers, and stops within 2 s",
  300,
  async (random) => {
    const simulation = await Simulation.start();
    const { system, stopper } = simulation;
    for (let event = 0; event < 8; event++) {
      const events = system.fate === "answered" ? FAILURES_AND_CLIENTS : [];
      random.pick([...events, ...CHANGES])(system, random);
      await system.pass(random.pick([0, 1, 5, 20, 200, 500, 3000]));
    }
    if (random.below(2) === 0) { // or it is told to stop meanwhile
      Object.assign(system, { isPortTaken: false, serveError: undefined });
      await system.pass(10_000);
      assertEquals(system.fate, "answered");
      assert(system.timers < 5, `${system.timers} timers`);
      system.connections = 9;
    }
    stopper.abort();
    await system.pass(2000);
    assertEquals([simulation.isRunning, system.fate], [false, "refused"]);
    const isFault = (event: string) => /BadResource|serve.*connect/.test(event);
    assertEquals(system.events.filter(isFault), []);
  },
);

Deno.test("Server adds no further listener to the stop signal when it recovers", async () => {
  const { system, stopper: { signal } } = await Simulation.start();
  let added = 0; // the signal would keep each until the stop
  signal.addEventListener = () => added++;
  system.fail(EMFILE);
  await system.pass(500);
  assertEquals([system.fate, added], ["answered", 0]);
});

Deno.test("Server has a higher memory limit where it uses much from the start", async () => {
  const simulation = await Simulation.start({ megabytes: 300 });
  const { system } = simulation;
  await system.pass(5000);
  assertEquals(system.connections, 10);
  system.idleMegabytes = system.megabytes = 250;
  await system.pass(1000);
  system.megabytes = 314;
  await system.pass(5000);
  assertEquals(system.connections, 10);
  system.megabytes = 315;
  await system.pass(5000);
  assertServes(simulation, TOO_LARGE);
});

Deno.test("Server closes all connections soon after the process grew too large, at the same limit after each attack", async () => {
  const simulation = await Simulation.start();
  const { system } = simulation;
  system.idleMegabytes = 140; // not all is given back
  for (let attack = 0; attack < 10; attack++) {
    system.megabytes = 144;
    system.connections = 10;
    await system.pass(5000);
    assertEquals(system.connections, 10);
    system.megabytes = 145;
    await system.pass(1000);
    assertEquals(system.connections, 0);
  }
  const { waiting, refused } = system.clients;
  assert(waiting > 1000 && refused < 50, "Clients do not wait for the memory");
  assertServes(simulation, TOO_LARGE);
});

Deno.test("Server waits for 5 s until memory is given back, and ends if it is not", async () => {
  for (const isFreed of [true, false]) {
    const simulation = await Simulation.start();
    const { system } = simulation;
    system.idleMegabytes = 145;
    system.megabytes = 900;
    const ended = simulation.ended.catch(String);
    await system.pass(4900);
    assertEquals(system.fate, "waiting");
    if (isFreed) system.megabytes = 144;
    await system.pass(400); // an eleventh look would be later
    if (isFreed) assertServes(simulation, TOO_LARGE);
    else {
      assertMatch(await ended ?? "", /not freed .*\n.*DENO_USR2_MEMORY_TRIM=/);
      assertEquals(system.fate, "refused");
    }
  }
});

Deno.test("Server has free memory given back before it counts what it uses", async () => {
  const simulation = await Simulation.start();
  const { system } = simulation;
  system.idleMegabytes = 900; // all of it is free, or nearly
  system.keptMegabytes = 840;
  system.megabytes = 900;
  await system.pass(1000);
  assertServes(simulation, TOO_LARGE);
});

Deno.test("Server ends its report with how to stop it, and warns that it cannot measure memory", async () => {
  const { log, reported } = await Simulation.start({ megabytes: 0 });
  assertEquals(reported.at(-1), "Press CTRL+C to quit");
  const warning = "Memory is not limited: /proc is missing";
  assertEquals(log, [warning]);
});

/** What happens while requests run after a stop, and for how long they may, in ms. */
const STOPS: [
  what: string,
  happen: (system: FakeSystem) => void,
  ms: number,
][] = [
  ["", () => {}, 1800],
  [" if accept fails", (system) => system.fail(EMFILE), 1800],
  [" unless memory runs out", (system) => system.megabytes = 900, 200],
];

for (const [what, happen, milliseconds] of STOPS) {
  Deno.test(`Server lets running requests finish${what}, but not forever`, async () => {
    const simulation = await Simulation.start();
    const { system, log } = simulation;
    simulation.stopper.abort();
    happen(system);
    await system.pass(milliseconds - 100);
    assertEquals([simulation.isRunning, system.connections], [true, 10]);
    await system.pass(200);
    assertEquals([simulation.isRunning, log], [false, []]);
  });
}

/** What a server does when it is told to stop, and what makes it do so. */
const ACTIVITIES: [
  what: string,
  act: (system: FakeSystem) => void,
  changes?: Partial<FakeSystem>,
][] = [
  ["starts", () => {}],
  ["retries to start", () => {}, { isPortTaken: true }],
  ["recovers from EMFILE", (system) => system.fail(EMFILE)],
  ["recovers from a lack of memory", (system) => system.megabytes = 145],
  [
    "waits for memory",
    (system) => system.idleMegabytes = system.megabytes = 145,
  ],
];

for (const [what, act, changes] of ACTIVITIES) {
  Deno.test(`Server stops at whichever microtask it is told to while it ${what}`, async () => {
    const retriesStart = changes?.isPortTaken ?? false;
    let isOver = false;
    for (let turn = 0; !isOver; turn++) {
      const system = Object.assign(new FakeSystem(), changes);
      const options = { retriesStart, isStopped: turn === 0 };
      const simulation = new Simulation(system, options);
      act(system);
      system.onTurn = () => {
        if (system.turns === turn) simulation.stopper.abort();
      };
      await system.pass(1000);
      isOver = system.turns < turn; // before it was told to stop
      simulation.stopper.abort();
      await system.pass(2000);
      assertEquals(simulation.isRunning, false, `after ${turn} microtasks`);
      const { answered } = system.clients;
      await system.pass(1000);
      assertEquals(system.clients.answered, answered, "The port is open");
    }
  });
}
