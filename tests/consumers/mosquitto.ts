// Mosquitto, an MQTT broker, and the shell loops that publish readings to it.

import { copyExample, fill, listBoards } from "./examples.ts";
import { Folder } from "../helpers/files.ts";
import { consumersGuide } from "../helpers/guide.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

/** The broker. */
export class Broker extends Process {
  static async start(): Promise<Broker> {
    const broker = new Broker(new ReservedPort());
    return await broker.untilReady(() => broker.waitForMatch(/ running/));
  }

  readonly port: number;

  private constructor(port: ReservedPort) {
    super(...unbuffered("mosquitto", "-p", `${port}`), { owned: [port] });
    this.port = port.number;
  }

  /** Subscribes to all topics. */
  async subscribe(): Promise<Subscriber> {
    const subscriber = new Subscriber(this.port);
    const ready = () => subscriber.waitForMatch(/ SUBACK/);
    return await subscriber.untilReady(ready);
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
    return this.stdout.match(/^\S+\/datasensor .*/gm) ?? [];
  }
}

/** Returns the command that runs a program without buffering its lines. */
function unbuffered(...command: string[]): [string, string[]] {
  return ["stdbuf", ["-oL", "-eL", ...command]];
}

/** The loops, with pauses that they log. */
export class Loop extends Process {
  static async start(
    broker: Broker,
    boards: string[],
    pauseSeconds = 0.1,
  ): Promise<Loop> {
    const folder = await Folder.create();
    await listBoards(folder, boards);
    const copy = await copyExample(folder, "mosquitto.sh", {
      ":5000": "",
      "-h BROKER": `-h 127.0.0.1 -p ${broker.port}`,
    });
    await Deno.writeTextFile(
      `${folder.path}/sleep`,
      `#!/bin/sh\necho "sleep $*"\nexec /bin/sleep ${pauseSeconds}\n`,
      { mode: 0o755 },
    );
    const command = fill(
      consumersGuide.block("src/board/examples/mosquitto.sh"),
      {
        "src/board/examples/mosquitto.sh": copy,
      },
    );
    return new Loop(folder, command);
  }

  private constructor(folder: Folder, command: string) {
    const env = { PATH: `${folder.path}:${Deno.env.get("PATH")}` };
    const options = { cwd: folder.path, env, killGroup: true, owned: [folder] };
    super("sh", ["-c", `exec ${command}`], options); // signals reach it
  }

  /** Waits until the loop has run once more. */
  async goRound(): Promise<void> {
    const pauses = () => this.stdout.split("\n").length;
    const after = pauses() + 1;
    await waitFor(`pause ${after}`, pauses, (count) => count >= after);
  }
}
