// A machine of its own, on which the commands of the pages run as they stand.

import { Folder } from "./files.ts";
import { type Output, output, Process } from "./process.ts";
import { programCommand } from "./program.ts";
import { missing } from "./skip.ts";
import { waitFor } from "./wait.ts";

/**
 * Makes what is typed harmless: a network without other machines, in which each program
 * has its usual port, and changes of /etc, /var and /run that vanish. What installs or
 * starts programs, or needs a person or another machine, does nothing.
 */
const SETUP = `
mount -t tmpfs tmpfs "$1"
cd "$1"
for folder in etc var; do
  mkdir $folder $folder.work
  mount -t overlay overlay /$folder \\
    -o lowerdir=/$folder,upperdir=$folder,workdir=$folder.work
done
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /usr/share/doc
ln -s "$2" /usr/share/doc/datasensor
ip link set lo up
echo 127.0.0.1 localhost BOARD >/etc/hosts
mkdir bin clone
for file in "$2"/* "$2"/.[a-z]*; do ln -s "$file" clone; done
for name in apt nano systemctl; do printf '#!/bin/sh\\n' >bin/$name; done
printf '#!/bin/sh\\nexec "$@"\\n' >bin/sudo
printf '#!/bin/sh\\ncp "\${1#*:}" "$2"\\n' >bin/scp
chmod 755 . bin/*
echo ready
exec cat`;

/** Returns what to do if a machine cannot be made, or lacks a program. */
export function missingMachine(...programs: string[]): string | undefined {
  if (Deno.build.os !== "linux") return "run it on Linux";
  if (Deno.uid() !== 0) return "be root";
  return missing("curl", "ip", "nsenter", "unshare", ...programs);
}

/** A machine that is a board, named BOARD, and a PC. */
export class Machine extends Process {
  static async start(): Promise<Machine> {
    const machine = new Machine(await Folder.create());
    return await machine.untilReady(() => machine.waitForMatch(/ready/));
  }

  private constructor(readonly folder: Folder) {
    const setup = ["sh", "-euc", SETUP, "sh", folder.path, Deno.cwd()];
    const args = ["--mount", "--net", ...setup];
    super("unshare", args, { hasInput: true, owned: [folder] });
  }

  /** Returns a command that runs another one on this machine, in its clone. */
  #enter(command: string[]): [command: string, args: string[]] {
    const enter = ["--target", `${this.pid}`, "--mount", "--net"];
    const script = 'cd "$0/clone"; PATH=$0/bin:$PATH exec "$@"';
    const shell = ["sh", "-euc", script, this.folder.path];
    return ["nsenter", [...enter, ...shell, ...command]];
  }

  /** Starts a program that runs until it is disposed of. */
  start(...command: string[]): Process {
    const options = { hasInput: true, killGroup: true };
    return new Process(...this.#enter(command), options);
  }

  /** Starts the service at its usual port. */
  startService(...flags: string[]): Process {
    return this.start(...programCommand(flags).flat());
  }

  /** Types commands, and then a text for each question that they ask. */
  async type(commands: string, ...answers: string[]): Promise<Output> {
    // Without a terminal, programs read passwords from standard input
    const script = 'echo "$2" | setsid --wait sh -euc "$1"';
    const words = ["sh", "-c", script, "sh", commands, answers.join("\n")];
    return await output(...this.#enter(words));
  }

  /**
   * Types a command until what it prints to standard output, with its exit code in
   * brackets, matches a pattern.
   */
  async typeUntil(command: string, expected: RegExp): Promise<void> {
    const type = async () => {
      const { code, stdout } = await this.type(command);
      return `${stdout}[${code}]`;
    };
    const isExpected = (shown: string) => expected.test(shown);
    const what = `${expected} of ${command}`;
    await waitFor(what, type, isExpected, { pause: 100 });
  }
}
