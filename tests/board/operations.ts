// Operations that the checks share, which use the guide's commands.

import { Guide } from "../helpers/guide.ts";
import { delay, waitFor } from "../helpers/wait.ts";
import type { Board } from "./board.ts";

/** Checks by name. */
export type Checks = Record<string, (board: Board) => Promise<void>>;

/** The guide for operators. */
export const guide = await Guide.read(".board/README.md");

/** Waits for a condition, polling slowly to spare the board. */
export async function waitOnBoard(
  condition: () => Promise<boolean>,
): Promise<void> {
  await waitFor(
    async () => await condition() || await delay(1000).then(() => false),
    () => String(condition),
  );
}

/** Returns a property of a unit. */
export function property(
  board: Board,
  name: string,
  unit = "datasensor",
): Promise<string> {
  return board.read(`systemctl show -P ${name} ${unit}`);
}

/** Returns the lines of a unit's processes in the journal. */
export async function journal(
  board: Board,
  unit = "datasensor",
): Promise<string[]> {
  const command = `sudo journalctl --sync; journalctl -u ${unit} -o cat`;
  return (await board.run(command)).split("\n");
}

/** Edits the drop-in, and restarts the service, with the guide's commands. */
export async function edit(board: Board, dropIn: string): Promise<void> {
  // An editor that inserts these lines between the first two comments
  await board.run(`cat >drop-in <<'END'\n${dropIn}END
sudo tee /usr/local/bin/editor >editor <<'END'
#!/bin/sh
exec sed -i -e '/^### Anything/,/^### Lines/{/^###/!d}' \
  -e '/^### Anything/r /home/pi/drop-in' "$1"
END
sudo chmod +x /usr/local/bin/editor`);
  await board.runOnTerminal(guide.block("systemctl edit datasensor"));
}

/** Removes the drop-in, with the guide's commands. */
export async function removeDropIn(board: Board): Promise<void> {
  await board.run(guide.block("override.conf"));
}

/** Restores the service after a failed check. */
export async function reset(board: Board): Promise<void> {
  await board.attempt(
    `sudo rm -f /etc/systemd/system/datasensor.service.d/override.conf
sudo systemctl daemon-reload
sudo systemctl restart datasensor`,
  );
}
