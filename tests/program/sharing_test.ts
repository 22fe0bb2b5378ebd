// Clients that share a small number of open files, as on a board: none is shut out
// by others that keep their connections.

import { assert } from "@std/assert";
import { exchange, GET, LAST_GET, open, receive } from "../helpers/network.ts";
import { Program, WITH_48_FILES } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

const isAnswer = (response: string) => response.endsWith('"Sensor data"');

/** Requests the data once a second, over one connection while that is possible. */
class Poller {
  requests = 0;
  lost = 0;
  #connection: Deno.Conn | undefined;

  constructor(private readonly port: number) {}

  async run(seconds: number): Promise<void> {
    for (; this.requests < seconds; this.requests++) {
      const second = delay(1000);
      if (!await this.#poll(3)) this.lost++;
      await second;
    }
    this.#connection?.close();
  }

  /** Tries a number of times, each but the first over a new connection. */
  async #poll(tries: number): Promise<boolean> {
    if (tries === 0) return false;
    try {
      this.#connection ??= await open(this.port, "");
      await this.#connection.write(new TextEncoder().encode(GET));
      const response = await receive(this.#connection, isAnswer);
      if (/^connection: close\r$/m.test(response)) this.#close();
      return isAnswer(response) || await this.#poll(tries - 1);
    } catch {
      this.#close();
      return await this.#poll(tries - 1);
    }
  }

  #close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

for (const count of [30, 100]) {
  Deno.test(`the program answers ${count} clients that poll it over connections kept alive`, async () => {
    await using program = await Program.start([], { wrap: WITH_48_FILES });
    const pollers = Array.from(
      { length: count },
      () => new Poller(program.port),
    );
    await Promise.all(pollers.map(async (poller, index) => {
      await delay(1000 * index / count);
      await poller.run(5);
    }));
    const lost = pollers.reduce((sum, poller) => sum + poller.lost, 0);
    assert(lost <= 2, `${lost} requests are lost`);
  });
}

/** Holds an idle connection, and opens another whenever it is closed. */
async function holdOne(port: number, signal: AbortSignal): Promise<void> {
  const aborted = new Promise((resolve) =>
    signal.addEventListener("abort", resolve)
  );
  while (!signal.aborted) {
    try {
      using connection = await open(port, "");
      await Promise.race([receive(connection), aborted]);
    } catch {
      await delay(1); // it is refused or reset
    }
  }
}

const NEW_CLIENTS = 20;

/** Clients that hold connections, and how many of the new ones are answered. */
const HOLDERS: [count: number, answered: number][] = [
  [22, NEW_CLIENTS],
  [23, NEW_CLIENTS],
  [24, NEW_CLIENTS * 0.6],
  [40, NEW_CLIENTS * 0.6],
];

for (const [count, wanted] of HOLDERS) {
  Deno.test(`the program answers new clients while ${count} hold idle connections`, async () => {
    await using program = await Program.start([], { wrap: WITH_48_FILES });
    const stop = new AbortController();
    const holders = Array.from(
      { length: count },
      () => holdOne(program.port, stop.signal),
    );
    let answered = 0;
    for (let client = 0; client < NEW_CLIENTS; client++) {
      await delay(300);
      const response = await exchange(program.port, LAST_GET).catch(() => "");
      if (isAnswer(response)) answered++;
    }
    stop.abort();
    await Promise.all(holders);
    assert(answered >= wanted, `only ${answered} of ${NEW_CLIENTS} answered`);
  });
}
