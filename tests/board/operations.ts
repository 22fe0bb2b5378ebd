// What the checks do on a board, as its operator would.

import { Guide } from "../helpers/guide.ts";
import { delay, waitFor } from "../helpers/wait.ts";
import type { Board } from "./board.ts";

/** Checks by name. */
export type Checks = Record<string, (board: Board) => Promise<void>>;

/** The guide for operators. */
export const guide = await Guide.read(".board/README.md");

/** Waits for a condition; looking at it takes the board's time. */
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

/** Returns the lines that a unit's processes wrote, as the journal has them. */
export async function journal(
  board: Board,
  unit = "datasensor",
): Promise<string[]> {
  const command = `sudo journalctl --sync; journalctl -u ${unit} -o cat`;
  return (await board.run(command)).split("\n");
}

/** Edits the drop-in, and restarts the service, with the guide's commands. */
export async function edit(board: Board, dropIn: string): Promise<void> {
  // An editor that puts these lines between the first two comments
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

/** Brings the service back, whatever a failed check has left. */
export async function reset(board: Board): Promise<void> {
  await board.attempt(
    `sudo rm -f /etc/systemd/system/datasensor.service.d/override.conf
sudo systemctl daemon-reload
sudo systemctl restart datasensor`,
  );
}
