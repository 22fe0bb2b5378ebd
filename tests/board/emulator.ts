// Boards that are emulated ARM machines.

import { receive, send } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import type { BoardKind, Machine, Need, Ports } from "./board.ts";
import { DISKS, type Pages, type Release } from "./image.ts";

/** An ARM machine. image.ts names the packages with its kernel. */
interface Model {
  release: Release;
  cpu: string;
  memoryMb: number;
  /** The size of its memory pages, in KB. */
  pages: Pages;
  /**
   * What is checked on it besides its processor. It has the rest too, but a memory
   * controller only if it is listed.
   */
  has: Need[];
}

class Emulator implements Machine {
  readonly #emulator: Process;
  readonly #monitor: string; // the path of a socket that takes commands

  constructor(
    model: Model,
    disks: string,
    ports: Ports,
    key: string,
    folder: string,
  ) {
    const { release, cpu, memoryMb, pages, has } = model;
    const kernel = `${release}-${pages}k`;
    this.#monitor = `${folder}/monitor`;
    const disk = `${disks}/disk-${release}.ext4`;
    const parameters = ["console=ttyAMA0", "rdinit=/init", "loglevel=4"];
    parameters.push(`ssh_key=${key}`);
    if (!has.includes("a memory controller")) {
      parameters.push("cgroup_disable=memory");
    }
    const forwards = Object.entries(ports)
      .map(([inner, outer]) => `hostfwd=tcp:127.0.0.1:${outer}-:${inner}`);
    // One processor: two boards with two each take a tenth longer on two cores
    this.#emulator = new Process("setpriv", [
      // It ends with this process, even if that is killed
      ...["--pdeathsig", "KILL", "qemu-system-aarch64"],
      ...["-M", "virt", "-cpu", cpu, "-smp", "1", "-m", `${memoryMb}`],
      ...["-kernel", `${disks}/vmlinuz-${kernel}`],
      ...["-initrd", `${disks}/initrd-${kernel}`],
      ...["-append", parameters.join(" ")],
      ...["-display", "none", "-serial", "stdio"],
      ...["-monitor", `unix:${this.#monitor},server=on,wait=off`],
      // Changes to its disk are lost when it is switched off
      ...["-drive", `file=${disk},format=raw,if=none,id=disk,snapshot=on`],
      ...["-device", "virtio-blk-pci,drive=disk"],
      ...["-netdev", `user,id=net,restrict=on,${forwards.join()}`],
      // Without the ROM that boots over the network, which needs another package
      ...["-device", "virtio-net-pci,netdev=net,romfile="],
    ], { hasInput: true });
  }

  get ended(): Promise<unknown> {
    return this.#emulator.ended;
  }

  get console(): string {
    return this.#emulator.stdout + this.#emulator.stderr;
  }

  async writeToSerialPort(text: string): Promise<void> {
    await this.#emulator.write(text);
  }

  async cutPower(): Promise<void> {
    const path = this.#monitor;
    using monitor = await Deno.connect({ transport: "unix", path });
    await send(monitor, "system_reset\n");
    // Its prompt comes before the command and after it
    await receive(monitor, (text) => text.split("(qemu)").length > 2);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#emulator[Symbol.asyncDispose]();
  }
}

/** Returns the kind of board that is an emulated ARM machine. */
export function emulator(model: Model): BoardKind {
  const { pages, has } = model;
  return {
    processor: "aarch64",
    pages,
    has: ["an ARM processor", ...has],
    isEmulated: true,
    boot: async (ports, key, folder) =>
      new Emulator(model, await DISKS.find(), ports, key, folder),
  };
}
