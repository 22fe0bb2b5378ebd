// What happens again and again for years leaves nothing behind: the whole program, and what is
// reachable before and after thousands of events.

import { assert } from "@std/assert";
import { testUnless } from "../helpers/skip.ts";
import { delay } from "../helpers/wait.ts";
import { RawRequest, Service } from "./service.ts";

const WARM_UP_EVENTS = 3000;
const EVENTS = 6000;
const MAX_LEFT_BYTES = 50; // of an event: a reaction on a promise takes 300

const ROOMS = "--stdin --json --key room --max-age none";
const SHORT = "--stdin --json --key room --max-age 1";
const LONG = "x".repeat(100); // what is kept of it shows
const KITCHEN = `{"room": "kitchen", "t": 21.5, "note": "${LONG}"}\n`;

/** Asks, and reads the answer. */
const ask = (service: Service, path = "/datasensor", method = "GET") =>
  service.handle(new RawRequest(`http://board${path}`, method)).bytes();

/** What happens, and with which flags. Each event has a number. */
const HAPPENINGS: Record<
  string,
  [flags: string, happen: (service: Service, event: number) => unknown]
> = {
  "a request": ["", (it) => ask(it)],
  "a request for a sensor": [ROOMS, (it) => ask(it, "/datasensor/kitchen")],
  "a HEAD request": ["", (it) => ask(it, "/datasensor", "HEAD")],
  "an unknown path": ["", (it, event) => ask(it, `/${event}`)],
  "an invalid Host": ["", (it) => ask(it, "^/datasensor")],
  "a line": [ROOMS, (it) => it.send(KITCHEN)],
  "an invalid line": [ROOMS, (it, event) => it.send(`${event},\n`)],
  "a new sensor": [
    SHORT,
    (it, event) => it.send(`{"room": "${event}${LONG}", "t": 1}\n`, 1000),
  ],
  "a new key": [
    ROOMS,
    (it, event) => it.send(`{"room": "kitchen", "${event}${LONG}": 1}\n`, 1000),
  ],
  "a silence and a return": [
    SHORT,
    (it) => it.send(KITCHEN, 1000, KITCHEN, 3000),
  ],
  "a warning": [ROOMS, (it) => {
    it.skip(60_000);
    return it.send("null\n");
  }],
  "a failed accept": ["", (it, event) => it.fail(new Error(LONG + event))],
  "too much memory": ["", async (it) => {
    it.megabytes = 200;
    await it.pass(1000);
  }],
  "an input that ends, and a stop": ["", async (_, event) => {
    if (event % 20 > 0) return; // it takes longer than the others
    const service = new Service("--stdin");
    await service.send("21.5\n", null, 1000);
    await service.stop();
  }],
};

for (const path of ["/", "/metrics", "/sensors", "/history"]) {
  HAPPENINGS[`a poll of ${path}`] = [ROOMS, (it) => ask(it, path)];
}

/** V8's function, which `deno task test` shows. */
const { gc } = globalThis as { gc?: () => void };

/** Measures what is reachable. What is outside of V8's heap is freed late. */
async function measureBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    gc!();
    await delay(0);
  }
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

const test = testUnless(gc ? undefined : "V8 hides gc(): use `deno task test`");

for (const [name, [flags, happen]] of Object.entries(HAPPENINGS)) {
  test(`${name} leaves nothing behind`, async () => {
    const service = new Service(flags);
    if (flags) await service.send(KITCHEN);
    const repeat = async (count: number) => {
      for (let event = 0; event < count; event++) {
        await happen(service, count + event);
        await service.pass(100); // a batch of the log
        service.written.length = service.events.length = 0;
      }
    };
    await repeat(WARM_UP_EVENTS);
    const before = await measureBytes();
    await repeat(EVENTS);
    const leftBytes = (await measureBytes() - before) / EVENTS;
    assert(leftBytes < MAX_LEFT_BYTES, `${leftBytes} bytes of an event`);
    assert(service.code === undefined, "It has ended");
    await service.stop();
  });
}
