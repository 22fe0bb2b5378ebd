// A shell loop publishes readings to Mosquitto, an MQTT broker.

import { assertEquals, assertMatch } from "@std/assert";
import { assertKeepsReading, Fleet, missingAddresses } from "./fleet.ts";
import { SimulatedBoard } from "./simulated_board.ts";
import { Broker, Loop } from "./mosquitto.ts";
import { needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

async function publish(broker: Broker, topic: string): Promise<void> {
  const args = ["-h", "127.0.0.1", "-p", `${broker.port}`, "-t", topic, "-n"];
  assertEquals((await output("mosquitto_pub", args)).code, 0);
}

const COMMANDS = ["mosquitto", "mosquitto_pub", "curl", "stdbuf"];

/** What the loop says of a board without a reading. */
const nothing = (host: string) => `${host}: nothing is published for now\n`;

Deno.test(
  "mosquitto.sh publishes the reading, and nothing without a current one",
  needs({ commands: COMMANDS }),
  async () => {
    await using broker = await Broker.start();
    await using subscriber = await broker.subscribe();
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const silentHost = `127.0.0.1:${silent.addr.port}`;
    await using silentLoop = await Loop.start(broker, [silentHost]);
    await using board = await SimulatedBoard.start();
    await board.say("21.5");
    await using loop = await Loop.start(broker, [board.host]);
    const messages = () => subscriber.messages;
    await waitFor("two messages", messages, ({ length }) => length >= 2);
    assertEquals(loop.stderr, "");
    await board.becomeStale();
    await waitFor("an error of the loop", () => loop.stderr);
    await board.say("22");
    const isNew = (messages: string[]) => messages.at(-1)!.endsWith(' "22"');
    await waitFor('the message "22"', messages, isNew);
    await board.goDown();
    await loop.waitForMatch(/curl: \(7\)/);
    await loop.goRound();
    await silentLoop.goRound();

    const topic = `${board.host}/datasensor`;
    assertEquals(
      new Set(subscriber.messages),
      new Set(['"21.5"', '"22"'].map((text) => `${topic} ${text}`)),
    );
    await using late = await broker.subscribe();
    await publish(broker, "late/datasensor");
    const isThere = ({ length }: string[]) => length > 0;
    await waitFor("a message", () => late.messages, isThere);
    assertEquals(late.messages, ["late/datasensor (null)"]);

    // curl writes a message in pieces: wait until they are complete
    // Each of them only once, although the loop goes on
    const stale = `curl: \\(22\\) .* error: 503\n${nothing(board.host)}`;
    const down = `curl: \\(7\\) Failed to connect .*\n${nothing(board.host)}`;
    await loop.waitForMatch(RegExp(`^${stale}${down}$`));
    const timeout = "curl: \\(28\\) Operation timed out after 5.*\n";
    await silentLoop.waitForMatch(RegExp(`^${timeout}${nothing(silentHost)}$`));
    assertMatch(loop.stdout, /^(sleep 5\n)+$/);
  },
);

/** Answers that are no readings, and what curl says of them. */
const HOSTILE: [what: string, answer: () => Response, error: string][] = [
  [
    "a redirect",
    () => new Response("<html>", { status: 302, headers: { location: "/x" } }),
    "curl: \\(47\\) Maximum \\(0\\) redirects followed\n",
  ],
  ["an empty body", () => new Response(""), ""],
  [
    "64 KiB",
    () => new Response("x".repeat(65_536)),
    "(curl: .*\n)?", // curl may end before head does
  ],
  [
    "an endless body",
    () => {
      const pull = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(new Uint8Array(65_536).fill(0x78));
      return new Response(new ReadableStream({ pull }));
    },
    "curl: .*\n",
  ],
];

for (const [what, answer, error] of HOSTILE) {
  Deno.test(
    `mosquitto.sh publishes nothing of ${what}, and says so once`,
    needs({ commands: COMMANDS }),
    async () => {
      await using broker = await Broker.start();
      await using subscriber = await broker.subscribe();
      let isHostile = true;
      await using board = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen() {} },
        () => isHostile ? answer() : new Response("21.5"),
      );
      const host = `127.0.0.1:${board.addr.port}`;
      await using loop = await Loop.start(broker, [host]);
      for (let round = 0; round < 3; round++) await loop.goRound();
      isHostile = false;
      const messages = () => subscriber.messages;
      await waitFor("a message", messages, ({ length }) => length > 0);
      assertEquals(subscriber.messages[0], `${host}/datasensor 21.5`);
      assertMatch(loop.stderr, RegExp(`^${error}${nothing(host)}$`));
    },
  );
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(
    `mosquitto.sh stops reading all boards on ${signal}`,
    needs({ commands: COMMANDS }),
    async () => {
      await using broker = await Broker.start();
      const hosts = ["127.0.0.1", "localhost"];
      using nobody = new ReservedPort();
      const boards = hosts.map((host) => `${host}:${nobody}`);
      await using loop = await Loop.start(broker, boards);
      // A loop that has only just been started might not be stopped
      for (const host of hosts) await loop.waitForMatch(RegExp(`to ${host} `));
      await loop.stop(signal); // waits until nothing can print any more
    },
  );
}

Deno.test(
  "mosquitto.sh keeps reading 4 live boards of 20",
  needs({ commands: COMMANDS, missing: [missingAddresses()] }),
  async () => {
    await using fleet = await Fleet.start();
    await using broker = await Broker.start();
    await using subscriber = await broker.subscribe();
    await using _loop = await Loop.start(broker, fleet.boards, 5);
    await assertKeepsReading(() => subscriber.stdout, 20);
  },
);
