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
const ask = (service: Service, path = "/datasensor") =>
  service.handle(new RawRequest(`http://board${path}`, "GET")).bytes();

/** What happens, and with which flags. Each event has a number. */
const HAPPENINGS: Record<
  string,
  [flags: string, happen: (service: Service, event: number) => unknown]
> = {
  "a request": ["", (service) => ask(service)],
  "an unknown path": ["", (service, event) => ask(service, `/${event}`)],
  "a poll": [ROOMS, (service) => ask(service, "/metrics")],
  "a line": [ROOMS, (service) => service.send(KITCHEN)],
  "an invalid line": [ROOMS, (service, event) => service.send(`${event},\n`)],
  "a new sensor": [
    SHORT,
    (service, event) =>
      service.send(`{"room": "${event}${LONG}", "t": 1}\n`, 1000),
  ],
  "a new key": [
    ROOMS,
    (service, event) =>
      service.send(`{"room": "kitchen", "${event}${LONG}": 1}\n`, 1000),
  ],
  "a silence and a return": [
    SHORT,
    (service) => service.send(KITCHEN, 1000, KITCHEN, 3000),
  ],
  "a warning": [ROOMS, (service) => {
    service.skip(60_000);
    return service.send("null\n");
  }],
  "a failed accept": [
    "",
    (service, event) => service.fail(new Error(LONG + event)),
  ],
  "too much memory": ["", async (service) => {
    service.megabytes = 200;
    await service.pass(1000);
  }],
  "an input that ends, and a stop": ["", async (_, event) => {
    if (event % 20 > 0) return; // it takes longer than the others
    const service = new Service("--stdin");
    await service.send("21.5\n", null, 1000);
    await service.stop();
  }],
};

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
    let event = 0;
    const repeat = async (count: number) => {
      for (const end = event + count; event < end; event++) {
        await happen(service, event);
        await service.pass(100); // a batch of the log
        service.written.length = service.events.length = 0;
      }
    };
    const measureLeft = async () => {
      const before = await measureBytes();
      await repeat(EVENTS);
      return (await measureBytes() - before) / EVENTS;
    };
    await repeat(WARM_UP_EVENTS);
    let leftBytes = await measureLeft();
    // On a busy machine, V8 may compile late
    if (leftBytes >= MAX_LEFT_BYTES) leftBytes = await measureLeft();
    assert(leftBytes < MAX_LEFT_BYTES, `${leftBytes} bytes of an event`);
    assert(service.code === undefined, "It has ended");
    await service.stop();
  });
}
