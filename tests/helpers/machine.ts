// A machine of its own, on which the commands of the documents and the sensor's unit run as
// they stand. It is no booted board, as in tests/board: `deno task test` has it within a
// second, wherever root may unshare, and a test gives it files and programs to stand in.

import { Folder } from "./files.ts";
import { type Output, output, Process } from "./process.ts";
import { programCommand } from "./program.ts";
import { findMissing, type Test, testUnless } from "./skip.ts";
import { waitFor } from "./wait.ts";

/**
 * Gives what is typed a network of its own, the given files, the package without executable,
 * and changes that vanish. What installs or starts programs does nothing.
 */
const SETUP = `
cd "$1"
mount -t tmpfs tmpfs changes
for folder in etc usr var; do
  mkdir -p files/$folder changes/$folder changes/$folder.work
  mount -t overlay overlay /$folder -o lowerdir=files/$folder:/$folder \\
    -o upperdir=changes/$folder,workdir=changes/$folder.work
done
mount -t tmpfs tmpfs /run
cp -R "$2"/src/board/package/[a-z]* /
mkdir -p /usr/share/datasensor
cp "$2"/src/board/*.conf "$2"/src/board/*.sh /usr/share/datasensor
cp "$2"/src/readers/*.conf "$2"/src/readers/*.yml /usr/share/datasensor
ip link set lo up
echo 127.0.0.1 localhost BOARD >/etc/hosts
mkdir -p bin clone changes/clone changes/clone.work
mount -t overlay overlay clone \\
  -o lowerdir="$2",upperdir=changes/clone,workdir=changes/clone.work
for name in apt nano systemctl; do printf '#!/bin/sh\\n' >bin/$name; done
printf '#!/bin/sh\\nexec "$@"\\n' >bin/sudo
printf '#!/bin/sh\\ncp "\${1#*:}" "$2"\\n' >bin/scp
chmod 755 . bin/*
for folder in home sys; do
  [ ! -e files/$folder ] || mount --bind files/$folder /$folder
done
echo ready
exec cat`;

/** The sensor's unit. */
const UNIT = await Deno.readTextFile(
  "src/board/package/usr/lib/systemd/system/datasensor-sensor.service",
);

/** The variables that the unit sets, and systemd. */
const SENSOR_ENV = [
  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  ...UNIT.match(/(?<=^Environment=).*$/gm)!,
];

/** The command that runs the sensor, which is its last argument; its quotes are a shell's. */
const [, RUN_SENSOR] = UNIT.match(/^ExecStart=(.*) \$\{SENSOR\}$/m)!;

/** Returns what defines tests that need a machine, as testWith() does. */
export async function testOnMachine(...programs: string[]): Promise<Test> {
  const tools = ["curl", "ip", "nsenter", "unshare", ...programs];
  return testUnless(findMissing(...tools) ?? await findRefusal());
}

/** Returns why this user cannot make a machine, if so: a container's root may not either. */
async function findRefusal(): Promise<string | undefined> {
  const { code } = await output("unshare", ["--mount", "--net", "true"]);
  return code === 0
    ? undefined
    : "unshare is not permitted: run the tests as root";
}

/** A machine that is a board, named BOARD, and a PC. */
export class Machine extends Process {
  /** Starts a machine with files in /etc, /home, /sys, /usr and /var, by their paths. */
  static async start(files: Record<string, string> = {}): Promise<Machine> {
    const folder = await Folder.create();
    await Deno.mkdir(`${folder.path}/changes`);
    for (const [path, text] of Object.entries(files)) {
      await folder.write(`files${path}`, text);
    }
    const machine = new Machine(folder);
    return await machine.untilReady(() => machine.waitForMatch(/ready/));
  }

  private constructor(readonly folder: Folder) {
    const setup = ["sh", "-euc", SETUP, "sh", folder.path, Deno.cwd()];
    super("unshare", ["--mount", "--net", ...setup]);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
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
    return new Process(...this.#enter(command));
  }

  startService(...flags: string[]): Process {
    return this.start(...programCommand(flags).flat());
  }

  /** Starts a sensor as its unit does: what this machine sets would hide what that does not. */
  startSensor(sensor: string): Process {
    const run = ["sh", "-c", `exec ${RUN_SENSOR} "$0"`, sensor];
    return this.start("env", "-i", ...SENSOR_ENV, ...run);
  }

  /** Types commands, and then a text for each question that they ask. */
  async type(commands: string, ...answers: string[]): Promise<Output> {
    // As there is no terminal, programs read passwords from standard input
    const script = 'echo "$2" | sh -euc "$1"';
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
    await waitFor(`${expected} of ${command}`, type, isExpected);
  }
}
