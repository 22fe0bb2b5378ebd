// deno-lint-ignore-file no-console -- it prints to the console by design

// Clients of a board's service. They run on the board, since what forwards connections
// to a board accepts them itself.
//
// Usage: crowd_clients.ts burst COUNT | crowd_clients.ts hold COUNT

import { exchange, LAST_GET, open, receive } from "../helpers/network.ts";
import { delay } from "../helpers/wait.ts";

const PORT = 5000;

/** What became of new clients. */
export interface Crowd {
  answered: number;
  /** How long the slowest that was answered had to wait, in ms. */
  slowest: number;
}

/** Sends a request, and adds the answer to what became of the crowd. */
async function ask(crowd: Crowd): Promise<void> {
  const begin = performance.now();
  const response = await exchange(PORT, LAST_GET).catch(() => "");
  if (!response.endsWith('"Sensor data"')) return;
  crowd.answered++;
  crowd.slowest = Math.max(crowd.slowest, performance.now() - begin);
}

/** Sends requests of a number of clients at once. */
async function burst(crowd: Crowd, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => ask(crowd)));
}

/**
 * Holds idle connections, reconnects when one is closed, and asks until four requests
 * are answered, but at most 60 times.
 */
async function hold(crowd: Crowd, count: number): Promise<void> {
  for (let holder = 0; holder < count; holder++) {
    (async () => {
      while (true) {
        try {
          using connection = await open(PORT, "");
          await receive(connection);
        } catch {
          await delay(1); // it is refused, reset or still open after a minute
        }
      }
    })();
  }
  for (let client = 0; client < 60 && crowd.answered < 4; client++) {
    await delay(300);
    await ask(crowd);
  }
}

if (import.meta.main) {
  const [what, count] = Deno.args;
  const crowd: Crowd = { answered: 0, slowest: 0 };
  await { burst, hold }[what as "burst" | "hold"](crowd, Number(count));
  console.log(JSON.stringify(crowd));
  Deno.exit(); // some connections are still held
}
