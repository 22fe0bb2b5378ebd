// A shell loop publishes readings to Mosquitto, an MQTT broker.

import { assertEquals, assertMatch } from "@std/assert";
import { Board } from "../helpers/board.ts";
import { copyExample } from "../helpers/examples.ts";
import { Folder } from "../helpers/files.ts";
import { lacksCommand, testUnless } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";

/** A broker and what is published through it, a line for each message. */
class Broker implements AsyncDisposable {
  readonly port = freePort();
  readonly #broker = unbuffered("mosquitto", ["-p", `${this.port}`]);
  #subscriber: Process | undefined;

  /** Waits until it has a subscriber to all topics. */
  async start(): Promise<this> {
    await this.#broker.waitFor(() => this.#broker.stderr.includes("running"));
    const args = ["-h", "127.0.0.1", "-p", `${this.port}`, "-t", "#", "-v"];
    this.#subscriber = unbuffered("mosquitto_sub", [...args, "-d"]);
    await this.#subscriber.waitFor(() =>
      this.#subscriber!.stdout.includes("received SUBACK")
    );
    return this;
  }

  /** The messages, each after its topic. */
  get messages(): string[] {
    const lines = this.#subscriber!.stdout.split("\n");
    return lines.filter((line) => /^\S+\/datasensor /.test(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscriber?.[Symbol.asyncDispose]();
    await this.#broker[Symbol.asyncDispose]();
  }
}

/** Starts a program that prints each line at once, although to a pipe. */
function unbuffered(command: string, args: string[]): Process {
  return new Process("stdbuf", ["-oL", "-eL", command, ...args]);
}

/** The loop, whose pauses are shorter and counted. */
class Loop extends Process {
  static async start(
    folder: Folder,
    host: string,
    broker: Broker,
  ): Promise<Loop> {
    const path = await copyExample(folder, "mosquitto.sh", {
      "BOARD.local:5000": host,
      "-h BROKER": `-h 127.0.0.1 -p ${broker.port}`,
    });
    const sleep = `${folder.path}/sleep`;
    await Deno.writeTextFile(
      sleep,
      '#!/bin/sh\necho "sleep $*"\nexec /bin/sleep 0.2\n',
      { mode: 0o755 },
    );
    const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
    return new Loop("sh", [path], { env, startsOthers: true });
  }

  /** Waits until it has done its work and pauses again, twice. */
  async goRound(): Promise<void> {
    const length = this.stdout.length + 2 * "sleep 10\n".length;
    await this.waitFor(() => this.stdout.length >= length);
  }
}

const lacksMosquitto = await lacksCommand("mosquitto") ??
  await lacksCommand("mosquitto_pub") ?? await lacksCommand("curl");

testUnless(
  lacksMosquitto,
  "mosquitto.sh publishes each reading, and nothing when it is old or the board is down",
  async () => {
    using folder = await Folder.create();
    await using broker = await new Broker().start();
    await using board = await Board.start();
    await board.say("21.5");
    await using loop = await Loop.start(folder, board.host, broker);
    await loop.waitFor(() => broker.messages.length >= 2);
    assertEquals(
      new Set(broker.messages),
      new Set(['BOARD/datasensor "21.5"']),
    );
    assertEquals(loop.stderr, "");
    await board.becomeStale();
    await loop.waitFor(() => loop.stderr !== "");
    await board.say("22");
    await loop.waitFor(() => broker.messages.at(-1)!.endsWith(' "22"'));
    await board.goDown();
    await loop.waitFor(() => loop.stderr.includes("curl: (7)"));
    await loop.goRound();
    assertEquals(
      new Set(broker.messages),
      new Set(['BOARD/datasensor "21.5"', 'BOARD/datasensor "22"']),
    );
    assertMatch(
      loop.stderr,
      /^(curl: \(22\) .* error: 503\n)+(curl: \(7\) Failed to connect .*\n)+$/,
    );
    assertMatch(loop.stdout, /^(sleep 10\n)+$/);
  },
);

testUnless(
  lacksMosquitto,
  "mosquitto.sh gives up on a board that accepts a connection and stays silent",
  async () => {
    using folder = await Folder.create();
    await using broker = await new Broker().start();
    using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const host = `127.0.0.1:${silent.addr.port}`;
    await using loop = await Loop.start(folder, host, broker);
    await loop.waitFor(() => loop.stderr !== "");
    assertMatch(loop.stderr, /^curl: \(28\) Operation timed out after 5/);
    await loop.goRound();
    assertEquals(broker.messages, []);
  },
);
