// An emulated ARM board, and the computer of its operator, who uses ssh.

import { Folder } from "../helpers/files.ts";
import { freePort, receive, send } from "../helpers/network.ts";
import { type Output, output, Process } from "../helpers/process.ts";
import { delay, waitFor } from "../helpers/wait.ts";
import type { Release } from "./image.ts";

/** A kind of board. */
export interface BoardKind {
  release: Release;
  cpu: string;
  /** The size of its memory pages, as in the guide. */
  pages: "4 KB" | "16 KB";
  /** Whether the kernel can limit the memory of a unit. */
  memoryController: boolean;
  /** Long checks that only the other board runs: both would show the same. */
  skips: RegExp;
}

/** How long a board may take to boot, in ms. Two at once take a minute. */
const BOOT_TIMEOUT_MS = 300_000;

/** How long a command may take, in ms. Two boards at once install for two minutes. */
const COMMAND_TIMEOUT_MS = 300_000;

/** How long a request may take, in ms. */
const REQUEST_TIMEOUT_MS = 5_000;

/** The ports that the board's network card forwards. */
type Ports = Record<22 | 80 | 5000, number>;

/** A running board. */
export class Board implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #ports: Ports;
  readonly #machine: Process;
  /** The ssh connection that all commands share, since opening one is slow. */
  #connection: Process | undefined;

  private constructor(
    readonly kind: BoardKind,
    folder: Folder,
    ports: Ports,
    machine: Process,
  ) {
    this.#folder = folder;
    this.#ports = ports;
    this.#machine = machine;
  }

  /** Boots a board, and waits until it is up. */
  static async boot(kind: BoardKind, images: string): Promise<Board> {
    const ports = { 22: freePort(), 80: freePort(), 5000: freePort() };
    const folder = await createComputer(ports[22]);
    const key = (await Deno.readTextFile(`${folder.path}/key.pub`)).split(" ");
    const parameters = "console=ttyAMA0 rdinit=/init loglevel=4 " +
      `ssh_key=${key[1]}${
        kind.memoryController ? "" : " cgroup_disable=memory"
      }`;
    const forwards = Object.entries(ports)
      .map(([inner, outer]) => `hostfwd=tcp:127.0.0.1:${outer}-:${inner}`);
    // One processor: two boards with two each take a tenth longer on two cores
    const machine = new Process("qemu-system-aarch64", [
      ...["-M", "virt", "-cpu", kind.cpu, "-smp", "1", "-m", "2048"],
      ...["-kernel", `${images}/vmlinuz-${kind.release}`],
      ...["-initrd", `${images}/initrd-${kind.release}`],
      ...["-append", parameters],
      ...["-display", "none", "-serial", "stdio"],
      ...["-monitor", `unix:${folder.path}/monitor,server=on,wait=off`],
      // Changes to its disk are lost when it is switched off
      "-drive",
      `file=${images}/disk-${kind.release}.ext4,format=raw,if=none,id=disk,snapshot=on`,
      ...["-device", "virtio-blk-pci,drive=disk"],
      ...["-netdev", `user,id=net,restrict=on,${forwards.join()}`],
      // Without the ROM that boots over the network, which needs another package
      ...["-device", "virtio-net-pci,netdev=net,romfile="],
    ], { hasInput: true });
    await using stack = new AsyncDisposableStack();
    const board = stack.use(new Board(kind, folder, ports, machine));
    await board.waitUntilUp();
    stack.move(); // the caller disposes of it
    return board;
  }

  /** The folder on the operator's computer in which commands run. */
  get folder(): string {
    return this.#folder.path;
  }

  /** The port of this machine that leads to a port of the board. */
  port(inner: keyof Ports): number {
    return this.#ports[inner];
  }

  /** Writes to its serial port, /dev/ttyAMA0. */
  async writeToSerialPort(text: string): Promise<void> {
    await this.#machine.write(text);
  }

  /** Waits until it accepts ssh and has started all units. */
  async waitUntilUp(): Promise<void> {
    await this.#connect();
    await this.#ssh("systemctl is-system-running --wait");
  }

  /** Waits until it accepts ssh. */
  async #connect(): Promise<void> {
    const end = performance.now() + BOOT_TIMEOUT_MS;
    while ((await this.#ssh("true")).code !== 0) {
      const ended = this.#machine.ended.then(() => true);
      const hasEnded = await Promise.race([ended, delay(500)]);
      if (!hasEnded && performance.now() < end) continue;
      const { stdout, stderr } = this.#machine;
      throw new Error(
        `The board does not boot:\n${stdout.slice(-4000)}${stderr}`,
      );
    }
    const env = this.environment;
    this.#connection = new Process("ssh", ["-M", "-N", "BOARD"], { env });
    const socket = `${this.folder}/ssh.socket`;
    const exists = () => Deno.stat(socket).then(() => true, () => false);
    await waitFor(exists, () => `no ${socket}`, 60_000);
  }

  /** The environment in which `ssh BOARD` leads to this board. */
  get environment(): Record<string, string> {
    const path = Deno.env.get("PATH");
    return { PATH: `${this.folder}/bin:${path}`, TERM: "dumb" };
  }

  /** Runs a command on the operator's computer. Throws if it fails. */
  async runOnOperator(command: string): Promise<string> {
    const options = { cwd: this.folder, env: this.environment };
    const args = ["-ec", command];
    const result = await output("bash", args, options, COMMAND_TIMEOUT_MS);
    return stdoutOrThrow(command, result);
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
    return stdoutOrThrow(command, await this.#ssh(`set -e\n${command}`, "-tt"));
  }

  async #ssh(command: string, ...flags: string[]): Promise<Output> {
    const env = this.environment;
    const args = [...flags, "BOARD", command];
    return await output("ssh", args, { env }, COMMAND_TIMEOUT_MS);
  }

  /** Returns the output of a command, without the line feed at its end. */
  async read(command: string): Promise<string> {
    return (await this.run(command)).trimEnd();
  }

  /** Reboots as an operator does, and waits until it is up again. */
  async reboot(): Promise<void> {
    await this.restart();
    await this.#ssh("systemctl is-system-running --wait");
  }

  /** Reboots as an operator does, and waits until it accepts ssh again. */
  async restart(): Promise<void> {
    const before = await this.#bootId();
    await this.attempt("sudo systemctl reboot");
    await this.#connection!.waitForEnd(BOOT_TIMEOUT_MS); // it has gone down
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
    await Deno.remove(`${this.folder}/ssh.socket`).catch(() => {});
    const path = `${this.folder}/monitor`;
    using monitor = await Deno.connect({ transport: "unix", path });
    await send(monitor, "system_reset\n");
    // Its prompt comes before the command and after it
    await receive(monitor, (text) => text.split("(qemu)").length > 2);
  }

  #bootId(): Promise<string> {
    return this.run("cat /proc/sys/kernel/random/boot_id");
  }

  /** Returns the status and the body of the answer, or "no answer". */
  async answer(port: keyof Ports = 5000): Promise<string> {
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
  async waitForAnswer(begin: string, port?: keyof Ports): Promise<void> {
    let last = "";
    await waitFor(
      async () => {
        last = await this.answer(port);
        if (last.startsWith(begin)) return true;
        await delay(500); // polling slows the board down
        return false;
      },
      () => `the answer is "${last}", not "${begin}"`,
      60_000,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.[Symbol.asyncDispose]();
    await this.#machine[Symbol.asyncDispose]();
    this.#folder.remove();
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

/** Creates a folder with a key, and with an ssh and scp that know `BOARD`. */
async function createComputer(port: number): Promise<Folder> {
  const folder = await Folder.create();
  const { path } = folder;
  const options = [
    "HostName 127.0.0.1",
    `Port ${port}`,
    "User pi",
    `IdentityFile ${path}/key`,
    `ControlPath ${path}/ssh.socket`,
    "ConnectTimeout 10",
    "StrictHostKeyChecking no",
    "UserKnownHostsFile /dev/null",
    "LogLevel ERROR",
  ];
  await Deno.writeTextFile(
    `${path}/config`,
    `Host BOARD\n${options.join("\n")}`,
  );
  await Deno.mkdir(`${path}/bin`);
  for (const name of ["ssh", "scp"]) {
    const { stdout } = await output("which", [name]);
    const script = `#!/bin/sh\nexec ${stdout.trim()} -F ${path}/config "$@"\n`;
    await Deno.writeTextFile(`${path}/bin/${name}`, script, { mode: 0o755 });
  }
  const args = ["-q", "-t", "ed25519", "-N", "", "-f", `${path}/key`];
  await output("ssh-keygen", args);
  return folder;
}
