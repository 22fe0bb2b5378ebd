// Operations that the checks share, which use the guide's commands.

import { guide } from "../helpers/guide.ts";
import type { Board, Need } from "./board.ts";

/** What is checked on a board. */
export interface Check {
  readonly name: string;
  /** What the board must have. Containers run the checks that need nothing. */
  readonly needs?: readonly Need[];
  /** Whether emulated boards check it too, as a part of the way that users go. */
  readonly isOnTheWay?: boolean;
  run(board: Board): Promise<void>;
}

/** The settings. */
const SETTINGS = "/etc/default/datasensor";

/** The guide's command that applies the settings. */
const APPLY = guide.block("sudo nano").split("\n")[1]!;

/** The guide's commands that edit a drop-in and remove it. */
const EDIT = guide.line("sudo systemctl edit datasensor");
const REVERT = guide.line("systemctl revert datasensor");

/** The guide's command that writes a reading to the FIFO. */
const WRITE = guide.match(/echo 21\.5 \| sudo tee \S+(?=`)/)[0];

/** Returns a property of a unit. */
export function property(
  board: Board,
  name: string,
  unit = "datasensor",
): Promise<string> {
  return board.read(`systemctl show -P ${name} ${unit}`);
}

/** Waits until the service and its sensor are in a state, such as "active". */
export async function waitForState(
  board: Board,
  service: string,
  sensor = service,
): Promise<void> {
  const read = async () =>
    await property(board, "ActiveState") + ", " +
    await property(board, "ActiveState", "datasensor-sensor");
  const expected = `${service}, ${sensor}`;
  const what = `the states of the service and the sensor to be ${expected}`;
  await board.waitFor(what, read, (states) => states === expected);
}

/** How long the service must have run for systemd to restart it at once, in s. */
const LONG_RUN_S = 10;

/** Waits until systemd would restart a service that crashes at once. */
export async function waitForLongRun(board: Board): Promise<void> {
  const name = "ActiveEnterTimestampMonotonic";
  const end = Number(await property(board, name)) / 1e6 + LONG_RUN_S;
  const read = async () =>
    Number(await board.read("cut -d ' ' -f 1 /proc/uptime"));
  await board.waitFor(`an uptime of ${end} s`, read, (now) => now > end);
}

/** Returns the lines of a unit's processes in the journal. */
export async function journal(
  board: Board,
  unit = "datasensor",
): Promise<string[]> {
  const command = `sudo journalctl --sync; journalctl -u ${unit} -o cat`;
  return (await board.run(command)).split("\n");
}

/** Returns how many bytes the units have left in the journal. */
export async function journalBytes(board: Board): Promise<number> {
  const units = "-u datasensor -u datasensor-sensor -u datasensor.socket";
  const count = `sudo journalctl --sync; journalctl ${units} -o export | wc -c`;
  return Number(await board.read(count));
}

/** Changes the settings from those that were installed, and applies them. */
export async function configure(
  board: Board,
  ...lines: string[]
): Promise<void> {
  const text = lines.join("\n").trimEnd();
  await board.run(`{ cat installed; cat <<'END'
${text}
END
} >settings
sudo cp settings ${SETTINGS}
${APPLY}`);
}

/** Uncomments examples in the installed settings, and applies them. */
export async function uncomment(
  board: Board,
  ...parts: string[]
): Promise<void> {
  const edits = parts.map((part) => `-e '\\|^#.*${part}|s/^#//'`);
  await board.run(`sed ${edits.join(" ")} installed >settings
[ "$(diff installed settings | grep -c '^>')" = ${parts.length} ]
sudo cp settings ${SETTINGS}
${APPLY}`);
}

/** Keeps the settings as they were installed. */
export async function keepSettings(board: Board): Promise<void> {
  await board.run(`cp ${SETTINGS} installed`);
}

/** Restores the installed settings, and applies them. */
export async function restoreSettings(board: Board): Promise<void> {
  await board.run(`sudo cp installed ${SETTINGS}\n${APPLY}`);
}

/** Edits the drop-in of a unit, and applies it, with the guide's commands. */
export async function edit(
  board: Board,
  dropIn: string,
  unit = "datasensor",
): Promise<void> {
  // An editor that inserts these lines between the first two comments
  await board.run(`cat >drop-in <<'END'\n${dropIn}END
sudo tee /usr/local/bin/editor >editor <<'END'
#!/bin/sh
for file; do :; done # the last argument; a line number may precede it
exec sed -i -e '/^### Anything/,/^### .* below/{/^###/!d}' \
  -e '/^### Anything/r /home/pi/drop-in' "$file"
END
sudo chmod +x /usr/local/bin/editor`);
  await board.runOnTerminal(EDIT.replace("edit datasensor", `edit ${unit}`));
  await board.run(APPLY);
}

/** Writes a reading to the FIFO, with the guide's command. */
export async function write(board: Board, reading: string): Promise<void> {
  await board.run(WRITE.replace("21.5", reading));
}

/** Removes the drop-in of a unit, with the guide's commands. */
export async function revert(
  board: Board,
  unit = "datasensor",
): Promise<void> {
  await board.run(`${REVERT.replace(/datasensor$/, unit)}\n${APPLY}`);
}

/** Restores the service after a failed check, so that the next one finds it. */
export async function reset(board: Board): Promise<void> {
  await board.attempt(
    `sudo mount -o remount,rw / || true # not in a container
sudo rm -f /full /rest
sudo systemctl revert datasensor datasensor-sensor
sudo cp installed ${SETTINGS}
sudo timeout 60 systemctl restart datasensor`,
  );
  await board.waitForAnswer("200").catch(() => {}); // the next check shows that
}
