// A board of the user's, which is reached through ssh, with the user's settings and keys.
// All that is put on it is a package and a folder, which has a script that removes both.

import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { delay, participants } from "../helpers/wait.ts";
import {
  ARCHITECTURES,
  Board,
  type Machine,
  type Processor,
  type Traits,
} from "./board.ts";
import { Computer, type Route } from "./computer.ts";
import type { Pages } from "./image.ts";
import { findPackages, packagesFor } from "./packages.ts";

/** A reason not to try a board, which is told to the user. */
export class Refusal extends Error {}

/** The folder in the home folder of the board's user. */
const FOLDER = "datasensor-test";

/** The oldest systemd, that of Debian 12. */
const OLDEST_SYSTEMD = 252;

/** How soon ssh must find out that a connection is lost, in s. */
const ALIVE_INTERVAL_S = 5;

const OPTIONS = [
  `ServerAliveInterval=${ALIVE_INTERVAL_S}`,
  "ControlMaster=no",
  "RemoteCommand=none",
  "SendEnv=LC_ALL", // the board's answers are read in English
];

/** What is looked up on the board: a shell command for each fact. */
const EXAMINATION = {
  system: "uname -s",
  systemd: "test -d /run/systemd/system && systemctl --version | head -n 1",
  architecture: "dpkg --print-architecture",
  release: `sed -n 's/^PRETTY_NAME="\\(.*\\)"/\\1/p' /etc/os-release`,
  page: "getconf PAGESIZE",
  sudo: "sudo -nk true 2>&1 && echo free", // even if a password was given before
  installed: `dpkg-query -W -f '\${Status}' datasensor | grep -v not-installed
ls -d /usr/bin/datasensor /etc/default/datasensor /etc/systemd/system/datasensor*`,
  folder: `ls -d "$HOME/${FOLDER}"`,
  port: "ss -Hltn 'sport = :5000'",
  shell: 'echo "$SHELL"',
} as const;

/** What was found there. An empty text means that the command failed. */
export type Facts = Record<keyof typeof EXAMINATION, string>;

/** Returns why a board cannot be tried, if so. */
export function refuse(
  destination: string,
  facts: Facts,
): string | undefined {
  const { system, systemd, architecture, installed, folder, port } = facts;
  const { shell, sudo } = facts;
  const known: string[] = Object.values(ARCHITECTURES);
  if (system !== "Linux") {
    return `"${destination}" runs "${system}", and datasensor needs Linux`;
  }
  if (!systemd) {
    return `"${destination}" does not run systemd, which the package needs. README.md says how to start the executable without it`;
  }
  if (Number(systemd.match(/\d+/)) < OLDEST_SYSTEMD) {
    return `"${destination}" runs "${systemd}", and the package needs ${OLDEST_SYSTEMD} or newer, as in Debian 12`;
  }
  if (!known.includes(architecture)) {
    return `The system of "${destination}" is for "${
      architecture || "no dpkg"
    }", and the package needs a 64-bit Debian: ${known.join(" or ")}`;
  }
  if (folder) {
    return `"${destination}" has "${folder}" of another run. Unless that still runs, remove what it has installed:\n  ${
      restoreCommand(destination)
    }`;
  }
  if (installed) {
    return `"${destination}" has datasensor already (${
      installed.replaceAll("\n", ", ")
    }), and would lose its settings. Try another board, or purge it first`;
  }
  if (port) {
    return `Another program uses port 5000 of "${destination}". Stop it for a few minutes`;
  }
  if (/not found/.test(sudo)) {
    return `"${destination}" has no sudo, which installs the package`;
  }
  if (!/\/(ba|da|k|z)?sh$/.test(shell)) {
    return `The shell of "${destination}" is "${shell}", which does not understand the commands. Try it as a user with another shell, such as bash`;
  }
}

/**
 * A destination that ssh and scp understand alike: scp takes no port, and colons only in
 * brackets.
 */
const DESTINATION = /^[\w.@+%-]+(\[[\w.:%]+\])?$/;

/** Returns the command that makes a board as it was. */
export function restoreCommand(destination: string): string {
  return `ssh -t ${destination} sudo sh ${FOLDER}/restore`;
}

/** Removes what was installed, and the folder that it is in. Only root can run it. */
const RESTORE = `#!/bin/sh
# Makes this board as it was before "deno task test:board". Run it with sudo; it may be
# repeated.
folder=$(cd "$(dirname "$0")" && pwd) || exit
# A command whose connection was lost may still run: wait two minutes at most
exec 9>>"$folder/lock"
flock -w 120 9
systemctl stop datasensor-sensor datasensor datasensor.socket 2>/dev/null
until dpkg --purge --force-remove-reinstreq datasensor >"$folder/log" 2>&1; do
  tries=$((tries + 1))
  if [ $tries = 60 ]; then
    cat "$folder/log"
    exit 1
  fi
  sleep 1 # another program may install packages
done
systemctl daemon-reload
systemctl reset-failed 'datasensor*' 2>/dev/null
for group in $(cat "$folder/new-groups"); do
  if getent group "$group" >/dev/null; then groupdel "$group"; fi
done
rm -r "$folder"
`;

/** Prints the password for sudo. */
const ASKPASS = `#!/bin/sh
printf '%s\\n' "$SUDO_PASSWORD"
`;

/** The groups that the package creates. */
const GROUPS = Array.from(
  (await Deno.readTextFile(
    "src/board/package/usr/lib/sysusers.d/datasensor.conf",
  ))
    .matchAll(/^g (\w+)/gm),
  ([, name]) => name!,
);

/** Creates the folder, before anything else is changed. */
const CREATE = `set -e
mkdir -m 700 ${FOLDER}
trap 'rm -r "$HOME/${FOLDER}"' EXIT
cd ${FOLDER}
cat >restore <<'END'\n${RESTORE}END
cat >askpass <<'END'\n${ASKPASS}END
chmod 700 askpass
for group in ${GROUPS.join(" ")}; do
  getent group $group >/dev/null || echo $group
done >new-groups
trap - EXIT`;

/** Makes sudo on the board ask for no password. It reads the line of a route. */
const WITH_PASSWORD = `IFS= read -r SUDO_PASSWORD
export SUDO_PASSWORD SUDO_ASKPASS="$HOME/${FOLDER}/askpass"
sudo() { command sudo -A "$@"; }`;

/** Lets the script wait until a command has ended whose connection was lost. */
const WITH_LOCK = `cd "$HOME/${FOLDER}" && exec 9>>lock && flock -s 9 || exit`;

/** The machine that it is: nobody here knows its console, or can switch it off. */
const MACHINE: Machine = {
  ended: new Promise(() => {}),
  console: "",
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** A connection to a board. */
export class Connection implements AsyncDisposable {
  readonly #computer: Computer;
  readonly #port: ReservedPort;
  #password = "";

  /** Opens a connection, for which ssh may ask the user. */
  static async open(destination: string): Promise<Connection> {
    if (!DESTINATION.test(destination)) {
      throw new Refusal(
        `"${destination}" is no destination such as pi@raspberrypi.local or pi@[fe80::1%eth0]. A port belongs in ~/.ssh/config`,
      );
    }
    await using stack = new AsyncDisposableStack();
    const computer = stack.use(await Computer.create());
    const port = stack.use(new ReservedPort());
    const connection = new Connection(computer, port, destination);
    await computer.lead(connection.#route());
    const forward = `127.0.0.1:${port}:127.0.0.1:5000`;
    const args = ["-M", "-N", "-f", "-L", forward, destination];
    const env = computer.environment;
    const ssh = new Deno.Command("ssh", { args, env, stdout: "null" });
    const { success } = await ssh.spawn().status;
    if (!success) {
      throw new Refusal(`"ssh ${destination}" fails, for the reason above`);
    }
    stack.move(); // the connection disposes of all
    return connection;
  }

  private constructor(
    computer: Computer,
    port: ReservedPort,
    readonly destination: string,
  ) {
    this.#computer = computer;
    this.#port = port;
  }

  #route(prelude: string[] = [], folder?: string): Route {
    return {
      destination: this.destination,
      options: OPTIONS,
      folder,
      prelude: prelude.join("\n"),
      line: this.#password,
    };
  }

  async #ssh(command: string) {
    const env = this.#computer.environment;
    return await output("ssh", [this.destination, command], {
      env,
      killGroup: true, // Ctrl+C does not end it
    });
  }

  /** Looks up the facts of a board. */
  async examine(): Promise<Facts> {
    const commands = Object.entries(EXAMINATION).map(([name, command]) =>
      `echo "== ${name}"\n{ ${command}\n} 2>/dev/null`
    );
    // The user's own shell may be another one than that of a script
    await using process = new Process("ssh", [this.destination, "sh"], {
      env: this.#computer.environment,
      hasInput: true,
      killGroup: true,
    });
    await process.write(commands.join("\n"));
    await process.endInput();
    await process.waitForEnd();
    const sections = process.stdout.split(/^== /m).slice(1).map((section) => {
      const [name, ...lines] = section.split("\n");
      return [name!, lines.join("\n").trim()];
    });
    const none = Object.keys(EXAMINATION).map((name) => [name, ""]);
    return Object.fromEntries([...none, ...sections]);
  }

  /** Takes the password for sudo. Throws if that is wrong. */
  async usePassword(password: string): Promise<void> {
    const env = this.#computer.environment;
    const command = "sudo -S -p '' true";
    await using process = new Process("ssh", [this.destination, command], {
      env,
      hasInput: true,
    });
    await process.write(`${password}\n`);
    await process.endInput();
    const { code } = await process.waitForEnd();
    if (code !== 0) {
      throw new Refusal(
        `sudo on "${this.destination}" does not accept the password, or not from you:\n${process.stderr.trim()}`,
      );
    }
    this.#password = password;
  }

  /** Makes packages for the board, on which nothing is changed yet. */
  async makePackages(facts: Facts): Promise<Board> {
    const processor = (Object.keys(ARCHITECTURES) as Processor[])
      .find((it) => ARCHITECTURES[it] === facts.architecture)!;
    const kind: Traits = {
      processor,
      pages: Number(facts.page) / 1024 as Pages,
      has: [],
      isEmulated: false,
    };
    await packagesFor(processor).make().catch((error) => {
      throw new Refusal(`The package cannot be made: ${error.message}`);
    });
    const packages = await findPackages(processor);
    await Deno.symlink(packages.folder, `${this.#computer.path}/dist`);
    const ports = { 5000: this.#port };
    const board = new Board(kind, MACHINE, packages, this.#computer, ports);
    participants.add(board);
    return board;
  }

  /** Creates the folder on the board, in which commands then work. */
  async createFolder(): Promise<void> {
    const { code, stderr } = await this.#ssh(CREATE);
    if (code !== 0) {
      throw new Refusal(
        `On "${this.destination}", a folder cannot be created: ${stderr.trim()}`,
      );
    }
    await this.#computer.lead(this.#route([WITH_PASSWORD, WITH_LOCK], FOLDER));
  }

  /** Makes the board as it was. Returns why it is not, if so. */
  async restore(): Promise<string | undefined> {
    await this.#computer.lead(this.#route([WITH_PASSWORD]));
    const end = performance.now() + RESTORE_TIMEOUT_MS;
    while (true) {
      const { code, stdout, stderr } = await this.#ssh(
        `test ! -e ${FOLDER} || sudo sh ${FOLDER}/restore`,
      );
      if (code === 0) break;
      const isLost = code === SSH_FAILED;
      if (!isLost || performance.now() > end) return stdout + stderr;
      await delay(1000);
    }
    const { installed, folder } = await this.examine();
    return installed + folder || undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#computer.lead(this.#route()); // a prelude would be no destination
    const env = this.#computer.environment;
    await output("ssh", ["-O", "exit", this.destination], { env });
    this.#computer[Symbol.dispose]();
    this.#port[Symbol.dispose]();
  }
}

/** What ssh returns if it fails itself. */
const SSH_FAILED = 255;

/** How long to try to reach a board that has to be restored, in ms. */
const RESTORE_TIMEOUT_MS = 60_000;
