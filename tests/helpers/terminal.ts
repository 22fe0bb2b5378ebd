// Runs a program on its own terminal, with script(1).

import { missingCommand } from "./machine.ts";
import { Program } from "./program.ts";

/** The reason to skip a test if script(1) cannot run. */
export const missingTerminal = Deno.build.os === "linux"
  ? await missingCommand("script")
  : "script(1) has other flags here";

/** The program on a terminal. Its exit code is that of the command. */
export class Terminal extends Program {
  /**
   * Runs a command on a terminal, which first shows the process id. Writing to
   * the process presses keys.
   *
   * @param redirection Shell redirections of streams away from the terminal.
   */
  constructor(
    command: string[],
    redirection = "",
    env: Record<string, string> = {},
  ) {
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    super("script", [
      "-qec",
      // Lines end with LF and no key is echoed, as without a terminal
      `stty -echo -onlcr; echo $$; exec ${words.join(" ")} ${redirection}`,
      "/dev/null",
    ], {
      env: { SHELL: "/bin/sh", ...env },
      killGroup: true,
      hasInput: true,
    });
  }

  /** The process id of the command on the terminal. */
  get childPid(): number {
    return parseInt(this.stdout);
  }

  /** Closes the terminal, as closing its window would. */
  close(): void {
    this.kill("SIGKILL");
  }
}
