// Clients that take all file descriptors, and connect again at once when they are closed.

import { assert, assertEquals } from "@std/assert";
import {
  exchange,
  GET,
  HALF_BODY,
  HALF_HEADER,
  open,
  receive,
} from "../helpers/network.ts";
import { OPEN_FILES, WITH_OPEN_FILES } from "./open_files.ts";
import { Program } from "../helpers/program.ts";
import { delay } from "../helpers/wait.ts";

/** How long a new client waits for an answer, as Home Assistant does by default. */
const CLIENT_TIMEOUT_MS = 10_000;

/** What clients send before they only hold their connections. */
const REQUESTS = ["", HALF_HEADER, GET, HALF_BODY];

const HOLDERS = OPEN_FILES + 10;
const NEW_CLIENTS = 20;

const isAnswer = (text: string) => text.endsWith('"Sensor data"');

Deno.test(`the program answers new clients while ${HOLDERS} hold idle connections, kept alive ones, half headers and half bodies`, async () => {
  await using program = await Program.start([], { wrap: WITH_OPEN_FILES });
  let isOver = false;
  const holders = Array.from({ length: HOLDERS }, async (_, index) => {
    while (!isOver) {
      try {
        const request = REQUESTS[index % REQUESTS.length]!;
        using connection = await open(program.port, request);
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
    const asked = exchange(program.port, GET, isAnswer, CLIENT_TIMEOUT_MS);
    if (isAnswer(await asked.catch(() => ""))) answered++;
  }
  isOver = true;
  assertEquals((await program.stop()).code, 0); // which closes the connections
  await Promise.all(holders);
  // All, on a machine that does nothing else; half, if the server only listens again
  assert(answered >= NEW_CLIENTS * 0.8, `only ${answered} are answered`);
  assertEquals([...new Set(program.messages)], [
    'WARN Closed all connections to recover from "Http: Error: Too many open files (os error 24)"',
  ]);
  assertEquals(program.stderr, "");
});
