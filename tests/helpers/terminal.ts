// Runs a program on its own terminal, with script(1).

import { missingCommand } from "./machine.ts";
import { Program } from "./program.ts";

/** The reason to skip a test where script(1) cannot run. */
export const missingTerminal = Deno.build.os === "linux"
  ? await missingCommand("script")
  : "script(1) has other flags here";

/** The program on a terminal, with the exit code of what runs there. */
export class Terminal extends Program {
  /**
   * Runs a command on a terminal, which first shows the process id. To press
   * keys, write to it.
   *
   * @param redirection The shell's, for streams that are not the terminal.
   */
  constructor(
    command: string[],
    redirection = "",
    env: Record<string, string> = {},
  ) {
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    super("script", [
      "-qec",
      // As without a terminal: lines end with LF, and no key is echoed
      `stty -echo -onlcr; echo $$; exec ${words.join(" ")} ${redirection}`,
      "/dev/null",
    ], {
      env: { SHELL: "/bin/sh", ...env },
      startsOthers: true,
      hasInput: true,
    });
  }

  /** The process id of what runs on the terminal. */
  get childPid(): number {
    return parseInt(this.stdout);
  }

  /** Closes the terminal, as its window would. */
  close(): void {
    this.kill("SIGKILL");
  }
}
