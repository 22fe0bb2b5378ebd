// A shell script publishes the readings of a board to Mosquitto, an MQTT broker.

import { assertEquals, assertMatch } from "@std/assert";
import { fill } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, needs } from "../helpers/needs.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

const UNIT = "src/readers/datasensor-mqtt@.service";
const COMMANDS = ["mosquitto", "mosquitto_sub", "mosquitto_pub", "curl"];

/** A broker, and the messages that it passes on. */
class Broker extends Process {
  static async start(): Promise<Broker> {
    const broker = new Broker(new ReservedPort());
    return await broker.untilReady(() => broker.waitForMatch(/ SUBACK/));
  }

  private constructor(readonly port: ReservedPort) {
    const script = `mosquitto -p $0 &
      until mosquitto_pub -p $0 -t start -n 2>/dev/null; do sleep 0.1; done
      exec stdbuf -oL mosquitto_sub -p $0 -t '+/datasensor' -v -d`;
    const args = ["-c", script, `${port}`];
    super("sh", args, { killGroup: true, owned: [port] });
  }

  get messages(): string[] {
    return this.stdout.match(/^\S+\/datasensor .*/gm) ?? [];
  }
}

/** What the unit starts for a board, with pauses of 0.1 s that it logs. */
class Loop extends Process {
  static async start(broker: Broker, host: string): Promise<Loop> {
    const folder = await Folder.create();
    const script = await Deno.readTextFile("src/readers/mosquitto.sh");
    const changed = fill(script, {
      ":5000": "",
      '-h "$broker"': `-h "$broker" -p ${broker.port}`,
      "sleep 5": "sleep 0.1; echo round",
    });
    const path = `${folder.path}/datasensor-mqtt`;
    await Deno.writeTextFile(path, changed, { mode: 0o755 });
    const [, start] = (await Deno.readTextFile(UNIT)).match(
      /^ExecStart=(.*)/m,
    )!;
    const command = fill(start!, {
      "/usr/local/bin/datasensor-mqtt": path,
      "%i": host,
    });
    const options = { killGroup: true, owned: [folder] };
    return new Loop("sh", ["-c", `exec ${command}`], options);
  }

  /** Waits until it has tried to read the board some times more. */
  async goRound(times: number): Promise<void> {
    const rounds = () => this.stdout.split("\n").length;
    const after = rounds() + times;
    await waitFor(`round ${after}`, rounds, (count) => count >= after);
  }
}

const nothing = (host: string) => `${host}: nothing is published for now\n`;

Deno.test(
  "mosquitto.sh publishes the readings of a board, and says once when there is none",
  needs({ commands: COMMANDS }),
  async () => {
    await using broker = await Broker.start();
    await using board = await Program.start(["--stdin"], { hasInput: true });
    const host = `127.0.0.1:${board.port}`;
    await using loop = await Loop.start(broker, host);
    const waitForMessage = (text: string) =>
      waitFor(
        `the message ${text}`,
        () => broker.messages.at(-1),
        (message) => message === `${host}/datasensor ${text}`,
      );
    await loop.goRound(3);
    await board.write("21.5\n");
    await waitForMessage('"21.5"');
    await board.write("22\n");
    await waitForMessage('"22"');
    await board.stop();
    await loop.waitForMatch(/curl: \((?!22)/);
    await loop.goRound(3);
    const messages = ["21.5", "22"].map((it) => `${host}/datasensor "${it}"`);
    assertEquals([...new Set(broker.messages)], messages);
    const stale = `curl: \\(22\\) .* error: 503\n${nothing(host)}`;
    // Failed to connect or, if the stop has met its request, an empty reply or a reset
    const down = `curl: \\((?:7|52|56)\\) .*\n${nothing(host)}`;
    const again = `${host}: published again\n`;
    assertMatch(loop.stderr, RegExp(`^${stale}${again}${down}$`));
  },
);

/** A text after which the connection is closed too early: Deno prints the reason. */
const CUT_OFF = () =>
  new ReadableStream({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode("21.5END")),
    pull: (controller) => controller.error("The test closes the connection"),
  });

const ENDLESS = () =>
  new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x78)),
  });

/** What a hostile board could answer, and what is no reading. */
const HOSTILE: [what: string, answer: () => Response][] = [
  [
    "a redirect",
    () => new Response("<html>", { status: 302, headers: { location: "/x" } }),
  ],
  ["an empty body", () => new Response("")],
  ["64 KiB", () => new Response("x".repeat(65_536))],
  ["a body without its end", () => new Response(CUT_OFF())],
  ["an endless body", () => new Response(ENDLESS())],
];

Deno.test(
  "mosquitto.sh publishes nothing of redirects, and of empty, unfinished and too long bodies",
  needs({ commands: COMMANDS }),
  async () => {
    await using broker = await Broker.start();
    let [[, answer]] = HOSTILE as [[string, () => Response]];
    await using board = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => answer(),
    );
    const host = `127.0.0.1:${board.addr.port}`;
    await using loop = await Loop.start(broker, host);
    for (const [index, [what, hostile]] of HOSTILE.entries()) {
      answer = hostile;
      await loop.goRound(3);
      answer = () => new Response(`after ${what}`);
      const isNew = (message?: string) => message?.endsWith(` after ${what}`);
      const last = () => broker.messages.at(-1);
      await waitFor(
        `a message after ${what}`,
        last,
        (it) => isNew(it) === true,
      );
      assertEquals(loop.stderr.split(nothing(host)).length, index + 2, what);
    }
    const texts = broker.messages.map((it) => it.split(" ").slice(1).join(" "));
    const expected = HOSTILE.map(([what]) => `after ${what}`);
    assertEquals([...new Set(texts)], expected);
  },
);

Deno.test(
  "datasensor-mqtt@.service is valid",
  needs({ missing: [missingCommand("systemd-analyze")] }),
  async () => {
    using folder = await Folder.create();
    const unit = `${folder.path}/datasensor-mqtt@raspberrypi.local.service`;
    const text = await Deno.readTextFile(UNIT);
    const installed = { "/usr/local/bin/datasensor-mqtt": "/bin/true" };
    await Deno.writeTextFile(unit, fill(text, installed));
    const { code, stderr } = await output("systemd-analyze", ["verify", unit]);
    assertEquals([code, stderr], [0, ""]);
  },
);
