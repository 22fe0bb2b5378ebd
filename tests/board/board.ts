// A board is what takes commands over ssh and answers HTTP requests. It is a container,
// an emulated ARM machine or the user's own; the checks do not know which.

import { ReservedPort } from "../helpers/ports.ts";
import { type Output, output, Process } from "../helpers/process.ts";
import {
  delay,
  type Participant,
  participants,
  waitFor,
} from "../helpers/wait.ts";
import { Computer } from "./computer.ts";
import type { Pages } from "./image.ts";
import type { Packages } from "./packages.ts";

/** What only some boards have. A check names what it needs. */
export type Need =
  | "an ARM processor"
  | "memory pages of 16 KB"
  | "a kernel of its own"
  | "BPF"
  | "a memory controller"
  | "a clock that may be set"
  | "a device"
  | "a power switch";

/** The processors of boards, and what Debian calls them. */
export const ARCHITECTURES = { aarch64: "arm64", x86_64: "amd64" } as const;

/** The processor of a board. */
export type Processor = keyof typeof ARCHITECTURES;

/** The ports of a board that other machines can reach. */
export type Port = 22 | 80 | 5000;

/** The ports of this machine that lead to them. */
export type Ports = Record<Port, number>;

/** What the checks know of a board. */
export interface Traits {
  readonly processor: Processor;
  /** The size of its memory pages, in KB. */
  readonly pages: Pages;
  /** What it has that others lack, or as much of it as is checked on it. */
  readonly has: readonly Need[];
  /** Whether it is an emulator, which is many times slower than a real one. */
  readonly isEmulated: boolean;
}

/** A kind of board that this machine makes. */
export interface BoardKind extends Traits {
  /** Boots one whose ports lead to its own, and which accepts an ssh key. */
  boot(ports: Ports, key: string, folder: string): Promise<Machine>;
}

/** The machine that a board is. */
export interface Machine extends AsyncDisposable {
  /** Resolves when it is switched off. */
  readonly ended: Promise<unknown>;
  /** What it has printed to its console. */
  readonly console: string;
  /** Writes to its serial port, /dev/ttyAMA0, if it has a device. */
  writeToSerialPort?(text: string): Promise<void>;
  /** Cuts its power for a moment, if it has a power switch. */
  cutPower?(): Promise<void>;
}

/** How long a board may take to boot: two emulated ones at once take a minute. */
const BOOT_TIMEOUT_MS = 300_000;

/** How long a command may take: two emulated boards install for two minutes. */
const COMMAND_TIMEOUT_MS = 300_000;

/** How long a wait may take: systemd starts a service that failed after 25 s. */
export const WAIT_LIMIT_MS = 60_000;

/** How long it may take on an emulated board, which is that much slower. */
const EMULATED_WAIT_LIMIT_MS = 180_000;

/**
 * How long a request may take before it counts as not answered. A wait for an answer
 * repeats it; elsewhere, the service has answered or refuses just before.
 */
const REQUEST_TIMEOUT_MS = 5_000;

/** How long it may take to read the journal of a board on which a wait has failed. */
const JOURNAL_TIMEOUT_MS = 30_000;

/** A running board, and the computer of its operator. */
export class Board implements AsyncDisposable, Participant {
  /** If it is switched off, its machine says so. */
  readonly failure = undefined;
  /** The ssh connection that all commands share, since opening one is slow. */
  #connection: Process | undefined;
  #interruption: string | undefined;

  /**
   * @param kind What the checks know of it.
   * @param machine What is disposed of with it.
   * @param packages The packages that its operator has in `dist`.
   * @param computer The computer of its operator, which leads to it.
   * @param ports The ports of this machine that lead to those of the board.
   */
  constructor(
    readonly kind: Traits,
    readonly machine: Machine,
    readonly packages: Packages,
    readonly computer: Computer,
    readonly ports: Partial<Record<Port, ReservedPort>>,
  ) {}

  /** Boots a board, and waits until it is up. Its operator has packages in `dist`. */
  static async boot(kind: BoardKind, packages: Packages): Promise<Board> {
    await using stack = new AsyncDisposableStack();
    const reserve = () => stack.use(new ReservedPort());
    const ports = { 22: reserve(), 80: reserve(), 5000: reserve() };
    const computer = stack.use(await Computer.create());
    const { path } = computer;
    await Deno.symlink(packages.folder, `${path}/dist`);
    const key = await createKey(`${path}/key`);
    const options = [
      "HostName=127.0.0.1",
      `Port=${ports[22]}`,
      "User=pi",
      `IdentityFile=${path}/key`,
      "StrictHostKeyChecking=no",
      "UserKnownHostsFile=/dev/null",
      "LogLevel=ERROR",
    ];
    await computer.lead({ destination: "BOARD", options });
    const outer = {
      22: ports[22].number,
      80: ports[80].number,
      5000: ports[5000].number,
    };
    const machine = stack.use(await kind.boot(outer, key, path));
    const board = new Board(kind, machine, packages, computer, ports);
    await board.waitUntilUp();
    participants.add(board);
    stack.move(); // the board disposes of all
    return board;
  }

  /** The folder on the operator's computer in which commands run. */
  get folder(): string {
    return this.computer.path;
  }

  /** The port of this machine that leads to a port of the board. */
  port(inner: Port): number {
    return this.ports[inner]!.number;
  }

  /** Replaces `BOARD` in a command, and the names of ARM by those of its processor. */
  adapt(command: string): string {
    const { processor } = this.kind;
    const adapted = command.replaceAll("arm64", ARCHITECTURES[processor])
      .replaceAll("aarch64", processor);
    return this.computer.adapt(adapted);
  }

  /** Makes all later commands, requests and waits fail with a reason. */
  interrupt(reason: string): void {
    this.#interruption = reason;
  }

  #throwIfInterrupted(): void {
    if (this.#interruption) throw new Error(this.#interruption);
  }

  /** Waits until it accepts ssh and has started all units. */
  async waitUntilUp(): Promise<void> {
    await this.#connect();
    await this.#waitForUnits();
  }

  /** Waits until it has started all units. One may fail: what needs it finds out. */
  async #waitForUnits(): Promise<void> {
    await this.#ssh("systemctl is-system-running --wait");
  }

  /** Waits until it accepts ssh. */
  async #connect(): Promise<void> {
    const end = performance.now() + BOOT_TIMEOUT_MS;
    const ended = this.machine.ended.then(() => true);
    while ((await this.#ssh("true")).code !== 0) {
      const hasEnded = await Promise.race([ended, delay(100)]);
      if (!hasEnded && performance.now() < end) continue;
      const { console } = this.machine;
      throw new Error(`The board does not boot:\n${console.slice(-2000)}`);
    }
    const env = this.environment;
    this.#connection = new Process("ssh", ["-M", "-N", "BOARD"], { env });
    const { socket } = this.computer;
    const exists = () => Deno.stat(socket).then(() => true, () => false);
    await this.waitFor(`ssh to open ${socket}`, exists);
  }

  /** The environment in which `ssh BOARD` leads to this board. */
  get environment(): Record<string, string> {
    return this.computer.environment;
  }

  /** Runs a command on the operator's computer. Throws if it fails. */
  async runOnOperator(command: string): Promise<string> {
    return stdoutOrThrow(command, await this.attemptOnOperator(command));
  }

  /** Runs a command on the operator's computer. */
  async attemptOnOperator(command: string): Promise<Output> {
    this.#throwIfInterrupted();
    const options = { cwd: this.folder, env: this.environment };
    const args = ["-ec", this.adapt(command)];
    return await output("bash", args, options, COMMAND_TIMEOUT_MS);
  }

  /** Runs a command on the board. Throws if it fails. */
  async run(command: string): Promise<string> {
    return stdoutOrThrow(command, await this.attempt(command));
  }

  /** Runs a command on the board. */
  async attempt(command: string): Promise<Output> {
    return await this.#ssh(`set -e\n${command}`);
  }

  /** Runs a command on a terminal of the board. Throws if it fails. */
  async runOnTerminal(command: string): Promise<string> {
    return stdoutOrThrow(
      command,
      await this.#ssh(`set -e\n${command}`, { flags: ["-tt"] }),
    );
  }

  async #ssh(
    command: string,
    { flags = [] as string[], limit = COMMAND_TIMEOUT_MS } = {},
  ): Promise<Output> {
    this.#throwIfInterrupted();
    const env = this.environment;
    const args = [...flags, this.computer.destination, command];
    return await output("ssh", args, { env }, limit);
  }

  /** Returns the output of a command, without the line feed at its end. */
  async read(command: string): Promise<string> {
    return (await this.run(command)).trimEnd();
  }

  /** Reboots as an operator does, and waits until it is up again. */
  async reboot(): Promise<void> {
    await this.rebootUntilSsh();
    await this.#waitForUnits();
  }

  /** Reboots as an operator does, and waits until it accepts ssh again. */
  async rebootUntilSsh(): Promise<void> {
    const before = await this.#bootId();
    await this.attempt("sudo systemctl reboot");
    await this.#connection!.waitForEnd(BOOT_TIMEOUT_MS); // it has gone down
    await this.#connection![Symbol.asyncDispose]();
    await this.#connect();
    if (await this.#bootId() === before) {
      throw new Error("The board did not reboot");
    }
  }

  /** Cuts its power for a moment: it boots without having shut down. */
  async cutPower(): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
    this.#connection = undefined;
    // A killed ssh leaves its socket, with which no other one could share a connection
    await Deno.remove(this.computer.socket).catch(() => {});
    await this.machine.cutPower!();
  }

  #bootId(): Promise<string> {
    return this.run("cat /proc/sys/kernel/random/boot_id");
  }

  /** Returns the status and the body of the answer, or "no answer". */
  async answer(port: Port = 5000): Promise<string> {
    this.#throwIfInterrupted();
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const url = `http://127.0.0.1:${this.port(port)}/datasensor`;
    try {
      const response = await fetch(url, { signal });
      return `${response.status} ${await response.text()}`;
    } catch {
      return "no answer";
    }
  }

  /** Waits until the answer begins with a text. */
  async waitForAnswer(begin: string, port?: Port): Promise<void> {
    const isExpected = (answer: string) => answer.startsWith(begin);
    const what = `an answer that begins with "${begin}"`;
    await this.waitFor(what, () => this.answer(port), isExpected);
  }

  /** Waits until a value is as expected, by default truthy, and returns it. */
  async waitFor<T>(
    what: string,
    read: () => Promise<T>,
    isExpected?: (value: T) => boolean,
  ): Promise<T> {
    // Polling would slow an emulated board down
    const pause = this.kind.isEmulated ? 500 : 50;
    const pace = { limit: this.waitLimitMs, pause };
    return await waitFor(what, read, isExpected, pace);
  }

  /** Waits until a text matches a pattern, and returns it. */
  async waitForText(
    what: string,
    read: () => Promise<string>,
    pattern: RegExp,
  ): Promise<string> {
    const matches = (text: string) => pattern.test(text);
    return await this.waitFor(`${what} to match ${pattern}`, read, matches);
  }

  /** Returns the end of the journal of its units, without the requests of a wait. */
  async describe(): Promise<string> {
    const units = "-u datasensor -u datasensor-sensor -u datasensor.socket";
    const command = `sudo journalctl --sync
journalctl ${units} --no-hostname -q -n 500 | grep -v "GET /datasensor" | tail -n 30`;
    const limit = JOURNAL_TIMEOUT_MS;
    const reading = this.#ssh(command, { limit }).catch((error) => ({
      stdout: `it cannot be read: ${error.message}`,
      stderr: "",
    }));
    const { stdout, stderr } = await reading;
    return `The end of the board's journal: ${stdout}${stderr}`;
  }

  /** How long a wait may take, in ms. */
  get waitLimitMs(): number {
    return this.kind.isEmulated ? EMULATED_WAIT_LIMIT_MS : WAIT_LIMIT_MS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    participants.delete(this);
    await this.#connection?.[Symbol.asyncDispose]();
    await this.machine[Symbol.asyncDispose]();
    this.computer[Symbol.dispose]();
    for (const port of Object.values(this.ports)) port[Symbol.dispose]();
  }
}

/** Returns what a command printed; throws if it failed. */
function stdoutOrThrow(
  command: string,
  { code, stdout, stderr }: Output,
): string {
  if (code === 0) return stdout;
  throw new Error(`${command}\nfailed with ${code}: ${stdout}${stderr}`);
}

/** Creates an ssh key, and returns its public part. */
async function createKey(path: string): Promise<string> {
  const args = ["-q", "-t", "ed25519", "-N", "", "-f", path];
  stdoutOrThrow("ssh-keygen", await output("ssh-keygen", args));
  return (await Deno.readTextFile(`${path}.pub`)).split(" ")[1]!;
}
