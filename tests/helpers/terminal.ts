// Runs commands on a terminal of their own, with Linux's script(1).

import type { Process } from "./process.ts";

/**
 * Returns the arguments of a {@linkcode Process} that runs a command on a terminal, with
 * redirections of the shell. It first shows the command's process id, and has its exit
 * code. Writing to it presses keys, and killing it closes the terminal.
 */
export function onTerminal(
  command: string[],
  redirection = "",
): ConstructorParameters<typeof Process> {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return ["script", [
    "-qec",
    // Lines end with LF and no key is echoed, as without a terminal
    `stty -echo -onlcr; echo $$; exec ${words.join(" ")} ${redirection}`,
    "/dev/null",
  ], {
    env: { SHELL: "/bin/sh" },
    killGroup: true,
    hasInput: true,
  }];
}
