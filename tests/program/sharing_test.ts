// Clients that share a small number of open files, as on a board: none is shut out
// by others that keep their connections.

import { assert } from "@std/assert";
import { exchange, get, LAST_GET, open, receive } from "../helpers/network.ts";
import { Program, WITH_48_FILES } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

/** Requests the data once a second, and returns how many requests are lost. */
async function poll(url: string): Promise<number> {
  using client = Deno.createHttpClient({}); // keeps its own connection
  const request = async () => (await get(url, { client })).text();
  let lost = 0;
  for (let second = 0; second < 5; second++) {
    const end = delay(1000);
    const answer = await request().catch(request).catch(request).catch(() =>
      ""
    );
    if (answer !== '"Sensor data"') lost++;
    await end;
  }
  return lost;
}

for (const count of [30, 100]) {
  Deno.test(`the program answers ${count} clients that poll it over connections kept alive`, async () => {
    await using program = await Program.start([], { wrap: WITH_48_FILES });
    const polls = Array.from({ length: count }, async (_, index) => {
      await delay(1000 * index / count);
      return await poll(program.url);
    });
    const lost = (await Promise.all(polls)).reduce((a, b) => a + b);
    assert(lost <= 2, `${lost} requests are lost`);
  });
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
    let isOver = false;
    const { promise: end, resolve: stop } = Promise.withResolvers<void>();
    const holders = Array.from({ length: count }, async () => {
      while (!isOver) {
        try {
          using connection = await open(program.port, "");
          await Promise.race([receive(connection), end]); // or it is closed
        } catch {
          await delay(1); // it is refused or reset
        }
      }
    });
    let answered = 0;
    for (let client = 0; client < NEW_CLIENTS; client++) {
      await delay(300);
      const response = await exchange(program.port, LAST_GET).catch(() => "");
      if (response.endsWith('"Sensor data"')) answered++;
    }
    isOver = true;
    stop();
    await Promise.all(holders);
    assert(answered >= wanted, `only ${answered} of ${NEW_CLIENTS} answered`);
  });
}
