// The computer of a board's operator: a folder in which commands run, where `ssh` and
// `scp` share one connection to the board.

import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

/** How ssh and scp lead to a board. */
export interface Route {
  /** What stands for `BOARD`, such as `pi@raspberrypi.local`. */
  readonly destination: string;
  /** Their options, such as `Port=22`. */
  readonly options: readonly string[];
  /** The folder on the board in which commands run, by default the home folder. */
  readonly folder?: string;
  /** What the board's shell does before each command. It may read a line. */
  readonly prelude?: string;
  /** The line that it reads. */
  readonly line?: string;
}

/**
 * An ssh that adds a prelude to the command, and a line to its standard input. It takes
 * flags without values only.
 */
const SSH_WITH_PRELUDE = `flags=
while [ "\${1#-}" != "$1" ]; do
  flags="$flags $1"
  shift
done
board=$1
shift
{ printf '%s\\n' "$SSH_LINE"; cat; } | COMMAND $flags "$board" "$SSH_PRELUDE
$*"`;

export class Computer implements Disposable {
  readonly #folder: Folder;
  #route: Route = { destination: "", options: [] };

  private constructor(folder: Folder) {
    this.#folder = folder;
  }

  /** Creates the folder. */
  static async create(): Promise<Computer> {
    return new Computer(await Folder.create());
  }

  /** The path of its folder. */
  get path(): string {
    return this.#folder.path;
  }

  /** The path of the socket through which commands share a connection. */
  get socket(): string {
    return `${this.path}/ssh`;
  }

  /** Where `ssh` leads. */
  get destination(): string {
    return this.#route.destination;
  }

  /** Makes `ssh` and `scp` lead to a board. */
  async lead(route: Route): Promise<void> {
    this.#route = route;
    await Deno.mkdir(`${this.path}/bin`, { recursive: true });
    const shared = [`ControlPath=${this.socket}`, "ConnectTimeout=10"];
    const options = [...shared, ...route.options]
      .map((option) => `-o '${option}'`).join(" ");
    const scripts = {
      scp: 'exec COMMAND "$@"',
      ssh: route.prelude ? SSH_WITH_PRELUDE : 'exec COMMAND "$@"',
    };
    for (const [name, script] of Object.entries(scripts)) {
      const { stdout } = await output("which", [name]);
      const command = `${stdout.trim()} ${options}`;
      const text = script.replace("COMMAND", () => command);
      const path = `${this.path}/bin/${name}`;
      await Deno.writeTextFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
  }

  /** The environment in which `ssh` and `scp` lead there. */
  get environment(): Record<string, string> {
    const { prelude = "", line = "" } = this.#route;
    const path = `${this.path}/bin:${Deno.env.get("PATH")}`;
    return { PATH: path, TERM: "dumb", SSH_PRELUDE: prelude, SSH_LINE: line };
  }

  /** Replaces `BOARD` in a command, as a user does. */
  adapt(command: string): string {
    const { destination, folder } = this.#route;
    return command.replace(
      /BOARD(:?)/g,
      (_, colon) => destination + colon + (colon && folder ? `${folder}/` : ""),
    );
  }

  [Symbol.dispose](): void {
    this.#folder.remove();
  }
}
