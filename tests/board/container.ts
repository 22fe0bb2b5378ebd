// Boards that are containers of this machine's processor and kernel.

import { Process } from "../helpers/process.ts";
import type { BoardKind, Machine, Ports, Processor } from "./board.ts";
import { CONTAINERS, type Release } from "./image.ts";

/** The address of the container in its network, as in image.sh. */
const ADDRESS = "10.0.2.15";

/**
 * Waits on a port of this machine, and then runs a command with that socket. Ends with
 * this process, even if that is killed.
 */
const ACTIVATE = ["--pdeathsig", "KILL", "systemd-socket-activate"];

/** Forwards the connections of a socket that it is started with. */
const FORWARD = "/lib/systemd/systemd-socket-proxyd";

class Container implements Machine {
  readonly #container: Process;
  readonly #forwards: Process[] = [];

  /** Starts a container with changes in a folder. */
  constructor(root: string, folder: string, key: string) {
    const script = ["tests/board/container.sh", root, folder, key];
    const args = ["--mount", "--net", ...script];
    this.#container = new Process("unshare", args, { hasInput: true });
  }

  /** Makes ports of this machine lead into its network. */
  async forward(ports: Ports): Promise<void> {
    // By then, it has its namespaces
    await this.#container.waitForMatch(/./);
    const network = `--net=/proc/${this.#container.pid}/ns/net`;
    for (const [inner, outer] of Object.entries(ports)) {
      const listen = ["-l", `127.0.0.1:${outer}`];
      const run = ["nsenter", network, FORWARD, `${ADDRESS}:${inner}`];
      const args = [...ACTIVATE, ...listen, ...run];
      const forward = new Process("setpriv", args);
      this.#forwards.push(forward);
      await forward.waitForMatch(/Listening/);
    }
  }

  get ended(): Promise<unknown> {
    return this.#container.ended;
  }

  get console(): string {
    return this.#container.stdout + this.#container.stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const forward of this.#forwards) await forward[Symbol.asyncDispose]();
    await this.#container.endInput(); // which ends it
    await this.#container.waitForEnd();
  }
}

/** Returns the kind of board that is a container with a release of Debian. */
export function container(release: Release): BoardKind {
  return {
    processor: Deno.build.arch as Processor,
    pages: 4,
    has: [],
    isEmulated: false,
    async boot(ports, key, computer) {
      const changes = `${computer}/changes`;
      await Deno.mkdir(changes);
      const root = `${await CONTAINERS.find()}/${release}`;
      await using stack = new AsyncDisposableStack();
      const machine = stack.use(new Container(root, changes, key));
      await machine.forward(ports);
      stack.move(); // the caller disposes of it
      return machine;
    },
  };
}
