// The server with a simulated system: what clients, the operator and the port see.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { EMFILE, type FakeSystem } from "./fake_system.ts";
import { Service } from "./service.ts";

/** Starts a server with ten connections. */
async function start(changes: Partial<FakeSystem> = {}): Promise<Service> {
  const server = new Service("--host localhost --port 0", changes);
  server.connections = 10;
  await server.pass(0);
  return server;
}

/** Asserts that it serves on the port that it had, and what it has logged. */
async function assertServes(server: Service, ...messages: string[]) {
  const { hostname, port } = server.options;
  assertEquals([hostname, port], ["127.0.0.1", 5000]);
  assertEquals([server.fate, server.connections], ["answered", 0]);
  await server.stop();
  assertEquals(server.messages, messages);
}

const closed = (reason: string | Error) =>
  `WARN Closed all connections to recover from "${reason}"`;
const CLOSED = closed(EMFILE);
const REMEDY = "Stop that program, or choose another port with --port";
const TAKEN =
  `WARN Cannot listen on "127.0.0.1", port 5000: another program uses the port. ${REMEDY}`;
const TOO_LARGE = closed("Too much memory in use");

for (const canHoldPort of [true, false]) {
  const others = canHoldPort ? "wait" : "are refused";
  Deno.test(`Server answers the last client, closes all connections and listens again, while others ${others}`, async () => {
    const server = await start({ canHoldPort });
    assert(server.options.onError, "Deno would answer and print errors itself");
    server.fail(EMFILE);
    await server.pass(5);
    assertEquals(server.connections, 10);
    await server.pass(495);
    await assertServes(server, CLOSED);
    const holding = ["hold 127.0.0.1:5000, backlog 0", "close all", "release"];
    assertEquals(server.events, [
      "serve localhost:0",
      ...canHoldPort ? holding : ["close all"],
      "serve 127.0.0.1:5000",
    ]);
    assertEquals(server.clients.refused === 0, canHoldPort);
  });
}

Deno.test("Server logs why it cannot listen once a minute, and when it can again", async () => {
  const server = await start();
  for (let outage = 0; outage < 2; outage++) {
    server.isPortTaken = true;
    server.fail(EMFILE);
    await server.pass(130_000);
    server.isPortTaken = false;
    await server.pass(1000);
  }
  const END = server.messages.at(-1)!;
  assertMatch(END, /^Listening after 130\.\d s$/);
  const outage = [CLOSED, TAKEN, TAKEN, TAKEN, END];
  await assertServes(server, ...outage, ...outage);
});

const { AddrInUse, AddrNotAvailable, NotCapable, PermissionDenied } =
  Deno.errors;
const NO_IPV6 = Object.assign(new Error("No family"), { code: "EAFNOSUPPORT" });
const AT = 'on "localhost", port 0:';
const NO = `${AT} this machine has no such`;
const OTHER = "Choose another address with --host, or omit it";
const RESERVED = `${AT} the system reserves that port for privileged users`;

/** Why Deno.serve fails at the start, the message, and the exit code with --journal. */
const CAUSES = [
  [new AddrInUse(), `${AT} another program uses the port\n${REMEDY}`],
  [new AddrNotAvailable(), `${NO} address\n${OTHER}`, 2],
  [NO_IPV6, `${NO} kind of address\n${OTHER}`, 2],
  [new PermissionDenied(), `${RESERVED}\nChoose port 1024`, 2],
  [EMFILE, `${AT} ${EMFILE}`, 1],
  [
    new NotCapable(), // at an address that is not known here
    "the service is not permitted to use the address\nUnset DENO_SERVE_ADDRESS",
    2,
  ],
] as const;

for (const [serveError, message, journalCode] of CAUSES) {
  Deno.test(`Server explains that ${serveError} keeps it from the start, and with --journal waits only if that may pass`, async () => {
    const flags = "--host localhost --port 0";
    const terminal = new Service(flags, { serveError });
    assertEquals(await terminal.end(), 1);
    const [printed, ...others] = terminal.written;
    assertEquals(others, []);
    const text = printed!.replace(/^stderr: Cannot listen:? /, "");
    assert(text.startsWith(message), printed);

    const journal = new Service(`${flags} --journal`, { serveError });
    await journal.pass(1000);
    assertEquals(journal.code, journalCode);
    if (journalCode) return;
    const warning = `<4>WARN Cannot listen ${message}`.replace("\n", ". ");
    assertEquals(journal.messages, [warning]);
    journal.serveError = undefined;
    await journal.pass(300);
    assertMatch(journal.written.at(-1)!, /http:\/\/127\.0\.0\.1:5000\//);
    await journal.stop();
  });
}

/** Chooses an integer from 0 to below a limit. */
type Choose = (limit: number) => number;

/** Returns choices that only depend on a seed. */
function createChoices(seed: number): Choose {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
}

type Event = (system: FakeSystem, choose: Choose) => void;

/** What may happen to a server that serves. */
const FAILURES_AND_CLIENTS: Event[] = [
  (system) => system.fail(EMFILE),
  (system) => system.fail(),
  (system) => system.megabytes = 900,
  (system, choose) => system.connections = choose(20),
];

const takePort: Event = (system, choose) =>
  system.isPortTaken = choose(2) === 0;

/** What may happen at any time once it has started. */
const CHANGES: Event[] = [
  takePort,
  (system, choose) => system.canHoldPort = choose(2) === 0,
  (system, choose) => system.serveError = [EMFILE, undefined][choose(2)],
];

const PAUSES_MS = [0, 1, 5, 20, 200, 500, 3000];

/** Lets things happen to a server, and stops it at some microtask. */
async function stopAtRandom(choose: Choose) {
  const isPortTaken = choose(4) === 0;
  const server = new Service("--journal --port 0", { isPortTaken });
  for (let event = choose(9); event > 0; event--) {
    await server.pass(PAUSES_MS[choose(PAUSES_MS.length)]!);
    const events = server.fate === "answered" ? FAILURES_AND_CLIENTS : [];
    const changes = server.options ? CHANGES : [takePort];
    const all = [...events, ...changes];
    all[choose(all.length)]!(server, choose);
  }
  if (choose(2) === 0) { // or it is told to stop meanwhile
    Object.assign(server, { isPortTaken: false, serveError: undefined });
    await server.pass(10_000);
    assertEquals(server.fate, "answered");
    assert(server.timers < 5, `${server.timers} timers`);
    server.connections = 9;
  }
  const passing = server.pass(1000); // many microtasks, which run in turn with these
  for (let turn = choose(300); turn > 0; turn--) await null;
  server.stopper.abort();
  await passing;
  await server.pass(2000);
  assertEquals([server.code, server.fate], [0, "refused"]);
  const isFailure = (event: string) => /BadResource|serve.*connect/.test(event);
  assertEquals(server.events.filter(isFailure), []);
}

Deno.test("Server recovers, and stops within 2 s, at whichever microtask it is told to", async () => {
  for (let seed = 0; seed < 500; seed++) {
    await stopAtRandom(createChoices(seed)).catch((cause) => {
      throw new Error(`It does not with seed ${seed}`, { cause });
    });
  }
});

Deno.test("Server stops, too, if it is told to before it waits for that", async () => {
  const server = new Service();
  server.stopper.abort(); // it listens already
  assertEquals([await server.end(), server.fate], [0, "refused"]);
});

Deno.test("Server has a higher memory limit where it uses much from the start", async () => {
  const server = await start({ megabytes: 300 });
  await server.pass(5000);
  assertEquals(server.connections, 10);
  server.idleMegabytes = server.megabytes = 250;
  await server.pass(1000);
  server.megabytes = 314;
  await server.pass(5000);
  assertEquals(server.connections, 10);
  server.megabytes = 315;
  await server.pass(5000);
  await assertServes(server, TOO_LARGE);
});

Deno.test("Server closes all connections soon after the process grew too large, at the same limit after each attack", async () => {
  const server = await start();
  server.idleMegabytes = 140; // not all is given back
  for (let attack = 0; attack < 10; attack++) {
    server.megabytes = 144;
    server.connections = 10;
    await server.pass(5000);
    assertEquals(server.connections, 10);
    server.megabytes = 145;
    await server.pass(1000);
    assertEquals(server.connections, 0);
  }
  const { waiting, refused } = server.clients;
  assert(waiting > 1000 && refused < 50, "Clients do not wait for the memory");
  await assertServes(server, TOO_LARGE);
});

Deno.test("Server waits for 5 s until memory is given back, and ends if it is not", async () => {
  for (const isFreed of [true, false]) {
    const server = await start();
    server.idleMegabytes = 145;
    server.megabytes = 900;
    await server.pass(4900);
    assertEquals(server.fate, "waiting");
    if (isFreed) server.megabytes = 144;
    await server.pass(400); // an eleventh look would be later
    if (isFreed) await assertServes(server, TOO_LARGE);
    else {
      assertEquals([server.code, server.fate], [1, "refused"]);
      const error = server.written.at(-1)!;
      assertMatch(error, /^stderr: Closing .* not freed .*\n.*_MEMORY_TRIM=1/);
    }
  }
});

Deno.test("Server stops at once while it waits for memory", async () => {
  const server = await start();
  server.idleMegabytes = server.megabytes = 900;
  await server.pass(1000);
  assertEquals(server.fate, "waiting");
  server.stopper.abort();
  await server.pass(600);
  assertEquals([server.code, server.fate], [0, "refused"]);
});

Deno.test("Server has free memory given back before it counts what it uses", async () => {
  const server = await start();
  server.idleMegabytes = 900; // all of it is free, or nearly
  server.keptMegabytes = 400;
  server.megabytes = 900;
  await server.pass(600);
  server.keptMegabytes = 440; // what the last connection has freed since then
  await server.pass(1000);
  await assertServes(server, TOO_LARGE);
});

Deno.test("Server warns that it cannot measure memory", async () => {
  const server = new Service("", { megabytes: 0 });
  await server.stop();
  const warning = "WARN Memory is not limited: /proc is missing";
  assertEquals(server.messages, [warning]);
});

/** What happens while requests run after a stop, and for how long they may, in ms. */
const STOPS: [string, (system: FakeSystem) => void, ms: number][] = [
  ["", () => {}, 1800],
  [" if accept fails", (system) => system.fail(EMFILE), 1800],
  [" unless memory runs out", (system) => system.megabytes = 900, 200],
];

for (const [what, happen, milliseconds] of STOPS) {
  Deno.test(`Server lets running requests finish${what}, but not forever`, async () => {
    const server = await start();
    server.stopper.abort();
    happen(server);
    await server.pass(milliseconds - 100);
    assertEquals([server.code, server.connections], [undefined, 10]);
    await server.pass(200);
    assertEquals([server.code, server.messages], [0, []]);
  });
}
