// A shell loop publishes readings to Mosquitto, an MQTT broker.

import { assertEquals, assertMatch } from "@std/assert";
import { SimulatedBoard } from "./simulated_board.ts";
import { copyExample, guideCommands } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";

/** The broker. */
class Broker extends Process {
  static async start(): Promise<Broker> {
    const broker = new Broker(freePort());
    await broker.waitFor(() => broker.stderr.includes(" running"));
    return broker;
  }

  private constructor(readonly port: number) {
    super(...unbuffered("mosquitto", "-p", `${port}`));
  }

  /** Subscribes to all topics. */
  async subscribe(): Promise<Subscriber> {
    const subscriber = new Subscriber(this.port);
    await subscriber.waitFor(() => subscriber.stdout.includes(" SUBACK"));
    return subscriber;
  }
}

/** A subscriber to all topics. */
class Subscriber extends Process {
  constructor(port: number) {
    const args = ["-h", "127.0.0.1", "-p", `${port}`, "-t", "#", "-v", "-d"];
    super(...unbuffered("mosquitto_sub", ...args));
  }

  /** The messages, each with its topic. */
  get messages(): string[] {
    return this.stdout.match(/^\w+\/datasensor .*/gm) ?? [];
  }
}

async function publish(broker: Broker, topic: string): Promise<void> {
  const args = ["-h", "127.0.0.1", "-p", `${broker.port}`, "-t", topic, "-n"];
  assertEquals((await output("mosquitto_pub", args)).code, 0);
}

/** Returns the command that runs a program without buffering its lines. */
function unbuffered(...command: string[]): [string, string[]] {
  return ["stdbuf", ["-oL", "-eL", ...command]];
}

/** The loop, with short pauses that it logs. */
class Loop extends Process {
  readonly #folder: Folder;

  static async start(host: string, broker: Broker): Promise<Loop> {
    const folder = await Folder.create();
    const copy = await copyExample(folder, "mosquitto.sh", {
      "BOARD:5000": host,
      "-h BROKER": `-h 127.0.0.1 -p ${broker.port}`,
    });
    await Deno.writeTextFile(
      `${folder.path}/sleep`,
      '#!/bin/sh\necho "sleep $*"\nexec /bin/sleep 0.1\n',
      { mode: 0o755 },
    );
    const path = ".board/consumers/mosquitto.sh";
    return new Loop(folder, await guideCommands(path, { [path]: copy }));
  }

  private constructor(folder: Folder, command: string) {
    const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
    super("sh", ["-c", command], { env, killGroup: true });
    this.#folder = folder;
  }

  /** Waits until the loop has run once more. */
  async goRound(): Promise<void> {
    const pauses = () => this.stdout.split("\n").length;
    const after = pauses() + 1;
    await this.waitFor(() => pauses() >= after);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#folder.remove();
  }
}

testUnless(
  await missingCommand("mosquitto", "mosquitto_pub", "curl", "stdbuf"),
  "mosquitto.sh publishes the reading, and nothing without a current one",
  async () => {
    await using broker = await Broker.start();
    await using subscriber = await broker.subscribe();
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const silentHost = `127.0.0.1:${silent.addr.port}`;
    await using silentLoop = await Loop.start(silentHost, broker);
    await using board = await SimulatedBoard.start();
    await board.say("21.5");
    await using loop = await Loop.start(board.host, broker);
    await loop.waitFor(() => subscriber.messages.length >= 2);
    assertEquals(loop.stderr, "");
    await board.becomeStale();
    await loop.waitFor(() => loop.stderr !== "");
    await board.say("22");
    await loop.waitFor(() => subscriber.messages.at(-1)!.endsWith(' "22"'));
    await board.goDown();
    await loop.waitFor(() => loop.stderr.includes("curl: (7)"));
    await loop.goRound();
    await silentLoop.goRound();

    assertEquals(
      new Set(subscriber.messages),
      new Set(['BOARD/datasensor "21.5"', 'BOARD/datasensor "22"']),
    );
    await using late = await broker.subscribe();
    await publish(broker, "late/datasensor");
    await late.waitFor(() => late.messages.length > 0);
    assertEquals(late.messages, ["late/datasensor (null)"]);

    // curl writes a message in pieces: wait until they are complete
    const stale = "(curl: \\(22\\) .* error: 503\n)+";
    const down = "(curl: \\(7\\) Failed to connect .*\n)+";
    await loop.waitFor(() => RegExp(`^${stale}${down}$`).test(loop.stderr));
    const timeout = /^curl: \(28\) Operation timed out after 5.*\n/;
    await silentLoop.waitFor(() => timeout.test(silentLoop.stderr));
    assertMatch(loop.stdout, /^(sleep 5\n)+$/);
  },
);
