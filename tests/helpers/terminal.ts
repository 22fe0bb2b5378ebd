// Runs a program on its own terminal, with script(1).

import { Folder } from "./files.ts";
import { lacksCommand } from "./machine.ts";
import { output } from "./process.ts";
import { Program } from "./program.ts";

/** The reason to skip a test where script(1) cannot run. */
export const lacksTerminal = Deno.build.os === "linux"
  ? await lacksCommand("script")
  : "script(1) has other flags here";

/** The program on a terminal, with the exit code of what runs there. */
export class Terminal extends Program {
  #keys: Deno.FsFile | undefined;
  #folder: Folder | undefined;

  /**
   * Runs a command on a terminal, which first shows the process id.
   *
   * @param redirection The shell's, for streams that are not the terminal.
   */
  static async run(
    command: string[],
    redirection = "",
    env: Record<string, string> = {},
  ): Promise<Terminal> {
    const folder = await Folder.create();
    const fifo = `${folder.path}/keys`;
    await output("mkfifo", [fifo]);
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const terminal = new Terminal("sh", [
      "-c",
      'exec script -qec "$1" /dev/null <>"$0"',
      fifo,
      // As without a terminal: lines end with LF, and no key is echoed
      `stty -echo -onlcr; echo $$; exec ${words.join(" ")} ${redirection}`,
    ], { env: { SHELL: "/bin/sh", ...env }, startsOthers: true });
    terminal.#folder = folder;
    terminal.#keys = await Deno.open(fifo, { read: true, write: true });
    return terminal;
  }

  /** The process id of what runs on the terminal. */
  get inner(): number {
    return parseInt(this.stdout);
  }

  /** Presses keys. */
  async type(keys: string): Promise<void> {
    await this.#keys?.write(new TextEncoder().encode(keys));
  }

  /** Closes the terminal, as its window would. */
  close(): void {
    this.kill("SIGKILL");
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.#keys?.close();
    this.#folder?.remove();
  }
}
