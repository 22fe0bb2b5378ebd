// Clients that share the open files of the unit: crowds that come at once, pollers
// that keep their connections, and holders of idle ones. None shuts out the others.

import { assert, assertEquals } from "@std/assert";
import {
  exchange,
  GET,
  LAST_GET,
  open,
  receive,
  send,
} from "../helpers/network.ts";
import { OPEN_FILES, Program, WITH_OPEN_FILES } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

const ANSWER = '"Sensor data"';
const isAnswer = (text: string) => text.endsWith(ANSWER);

/** How long a client may wait: longer than the second after which it tries again. */
const WAIT_LIMIT_MS = 3000;

/** A client with its own connection, which it opens again when it is lost. */
class Client implements Disposable {
  opened = 0; // connections
  lost = 0; // requests
  #connection: Deno.Conn | undefined;

  /** Sends a request up to three times, until it is answered. */
  async request(port: number): Promise<void> {
    for (let attempts = 0; attempts < 3; attempts++) {
      try {
        if (!this.#connection) {
          this.#connection = await Deno.connect({ port });
          this.opened++;
        }
        await send(this.#connection, GET);
        const response = await receive(this.#connection, isAnswer);
        if (response.includes("connection: close")) this[Symbol.dispose]();
        if (isAnswer(response)) return;
      } catch {
        // It is refused or reset
      }
      this[Symbol.dispose]();
    }
    this.lost++;
  }

  [Symbol.dispose](): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** Creates clients, and disposes of them after a test. */
function createClients(count: number, stack: DisposableStack): Client[] {
  return Array.from({ length: count }, () => stack.use(new Client()));
}

for (const stays of [false, true]) {
  const how = stays ? "keep their connections" : "close them at once";
  Deno.test(`the program answers each of 60 clients that come at once, and ${how}`, async () => {
    await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
    for (let burst = 0; burst < 3; burst++) {
      using stack = new DisposableStack();
      const waits = createClients(60, stack).map(async (client) => {
        const start = performance.now();
        await client.request(program.port);
        const wait = performance.now() - start;
        assert(wait < WAIT_LIMIT_MS, `A client waited for ${wait} ms`);
        if (!stays) client[Symbol.dispose]();
        return client.lost;
      });
      assertEquals(await Promise.all(waits), Array(60).fill(0));
    }
    await program.stop();
    assertEquals(program.stdout.match(/WARN.*/g), null);
  });
}

/** Asks once a second for five seconds. Returns lost requests and opened connections. */
async function poll(port: number, count: number) {
  using stack = new DisposableStack();
  const clients = createClients(count, stack);
  await Promise.all(clients.map(async (client, index) => {
    await delay(1000 * index / count);
    for (let second = 0; second < 5; second++) {
      await Promise.all([delay(1000), client.request(port)]);
    }
  }));
  return {
    lost: clients.reduce((sum, { lost }) => sum + lost, 0),
    opened: clients.reduce((sum, { opened }) => sum + opened, 0),
  };
}

Deno.test("the program keeps the connection of each client that polls it", async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  const opened = OPEN_FILES - 40; // the program itself opens about 25
  assertEquals(await poll(program.port, opened), { lost: 0, opened });
});

Deno.test("the program answers more polling clients than it has open files", async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  const { lost } = await poll(program.port, 2 * OPEN_FILES);
  assert(lost <= 2, `${lost} requests are lost`);
});

const HOLDERS = OPEN_FILES + 10;
const NEW_CLIENTS = 20;

Deno.test(`the program answers new clients while ${HOLDERS} hold idle connections`, async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  let isOver = false;
  const { promise: end, resolve: stop } = Promise.withResolvers<void>();
  const holders = Array.from({ length: HOLDERS }, async () => {
    while (!isOver) {
      try {
        using connection = await open(program.port, "");
        await Promise.race([receive(connection), end]); // or it is closed
      } catch {
        await delay(1); // it is refused or reset
      }
    }
  });
  await program.waitFor(() => program.stdout.includes("WARN"));
  let answered = 0;
  for (let client = 0; client < NEW_CLIENTS; client++) {
    await delay(300);
    const response = await exchange(program.port, LAST_GET).catch(() => "");
    if (isAnswer(response)) answered++;
  }
  isOver = true;
  stop();
  await Promise.all(holders);
  assert(answered >= NEW_CLIENTS * 0.9, `only ${answered} are answered`);
});
