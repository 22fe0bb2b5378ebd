// Clients that share the open files of the unit: pollers that come at once and keep
// their connections, and holders of idle ones. None shuts out the others.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { exchange, GET, open, receive, send } from "../helpers/network.ts";
import { OPEN_FILES, WITH_OPEN_FILES } from "../helpers/open_files.ts";
import { Program } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

/** How long a client may wait: longer than the second after which it tries again. */
const WAIT_LIMIT_MS = 3000;

/** How long a new client waits for an answer, as Home Assistant does by default. */
const CLIENT_TIMEOUT_MS = 10_000;

const isAnswer = (text: string) => text.endsWith('"Sensor data"');

/** Sends a request over a connection, which must be answered in time. */
async function ask(connection: Deno.Conn): Promise<void> {
  const start = performance.now();
  await send(connection, GET);
  assert(isAnswer(await receive(connection, isAnswer)), "no answer");
  const wait = performance.now() - start;
  assert(wait < WAIT_LIMIT_MS, `A client waited for ${wait} ms`);
}

const POLLERS = OPEN_FILES - 40; // the program itself opens about 25

Deno.test(`the program keeps the connections of ${POLLERS} clients that come at once and poll it`, async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  const poll = async () => {
    using connection = await Deno.connect({ port: program.port });
    for (let times = 0; times < 3; times++) {
      await Promise.all([delay(500), ask(connection)]);
    }
  };
  await Promise.all(Array.from({ length: POLLERS }, poll));
  await program.stop();
  assertEquals(program.messages, []);
});

const HOLDERS = OPEN_FILES + 10;
const NEW_CLIENTS = 20;

Deno.test(`the program answers new clients while ${HOLDERS} hold idle connections`, async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  let isOver = false;
  const holders = Array.from({ length: HOLDERS }, async () => {
    while (!isOver) {
      try {
        using connection = await open(program.port, "");
        await receive(connection); // until it is closed
      } catch {
        await delay(1); // it is refused or reset
      }
    }
  });
  await program.waitForMatch(/WARN/);
  let answered = 0;
  for (let client = 0; client < NEW_CLIENTS; client++) {
    await delay(300);
    const exchanged = exchange(
      program.port,
      GET,
      isAnswer,
      CLIENT_TIMEOUT_MS,
    );
    const response = await exchanged.catch(() => "");
    if (!isAnswer(response)) continue;
    answered++;
    assertMatch(response, /^connection: close\r$/m);
  }
  isOver = true;
  await program.stop(); // which closes the connections
  await Promise.all(holders);
  // All, on a machine that does nothing else; a fifth, if the server only listens again
  assert(answered >= NEW_CLIENTS * 0.4, `only ${answered} are answered`);
});
