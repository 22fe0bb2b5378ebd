// deno-lint-ignore-file no-console -- how much is a result

// Checks that nothing that cannot start wears out the board's storage: how much it
// leaves in the journal for as long as the reason lasts, and that it is soon back.

import { assert } from "@std/assert";
import { guide } from "../helpers/guide.ts";
import type { Board } from "./board.ts";
import {
  type Check,
  configure,
  journal,
  journalBytes,
  property,
  restoreSettings,
} from "./operations.ts";

/** How much the units may leave in the journal, in 10^6 bytes, as in the names. */
const DAY_LIMIT_MB = 30;

/**
 * How soon the service must answer after the reason has gone, in s: systemd waits for
 * up to 25 s, and the rest is for a busy machine.
 */
const RETURN_LIMIT_S = 30;

const DAY_MS = 24 * 60 * 60 * 1000;

const EXECUTABLE = "/usr/bin/datasensor";
const SHOW_LAST_LINES = guide.line("journalctl -u datasensor -n");

/** Waits until systemd starts a unit again. */
async function waitForRestart(board: Board, unit: string): Promise<void> {
  const restarts = async () => Number(await property(board, "NRestarts", unit));
  const before = await restarts();
  const what = `${unit} to be restarted more than ${before} times`;
  await board.waitFor(what, restarts, (count) => count > before);
}

/** Asserts that a unit's restarts do not wear out the storage. */
async function assertSparesJournal(board: Board, unit: string): Promise<void> {
  await waitForRestart(board, unit); // so that a whole interval follows
  const before = await journalBytes(board);
  const begin = performance.now();
  await waitForRestart(board, unit);
  const bytes = await journalBytes(board) - before;
  const day = bytes / (performance.now() - begin) * DAY_MS / 1e6;
  console.log(`Journal: ${day.toFixed(1)} MB a day`);
  assert(day <= DAY_LIMIT_MB, `${day} MB a day`);
}

/** Asserts that the service answers soon after the reason has gone. */
async function assertReturns(
  board: Board,
  answer: string,
  act: () => Promise<unknown>,
): Promise<void> {
  const begin = performance.now();
  await act();
  await board.waitForAnswer(answer);
  const seconds = (performance.now() - begin) / 1000;
  assert(seconds <= RETURN_LIMIT_S, `It took ${seconds} s`);
}

/** How the guide says that the journal names an executable that cannot run. */
const [CANNOT_RUN] = guide.match(/status=\d+\/EXEC/);

/** Executables that cannot serve: what makes one, and what the journal shows. */
const BROKEN: [what: string, make: string, status: string][] = [
  ["cannot run", "install -m 755 /dev/null", CANNOT_RUN],
  ["ends at once", "install -m 755 /bin/false", "status=1/FAILURE"],
];

/** The checks that nothing wears out the board's storage. */
export const WEAR: Check[] = [
  ...BROKEN.map(([what, make, status]): Check => ({
    name:
      `an executable that ${what} leaves at most 30 MB a day, the journal says why, and a new one soon answers`,
    async run(board) {
      await configure(
        board,
        "FLAGS=--stdin",
        "SENSOR=while echo 1; do sleep 1; done",
      );
      await board.waitForAnswer('200 "1"');
      await board.run(`sudo mv ${EXECUTABLE} executable
sudo ${make} ${EXECUTABLE}`);
      await board.attempt("sudo systemctl restart datasensor");
      await assertSparesJournal(board, "datasensor");
      const lines = await board.run(SHOW_LAST_LINES);
      assert(lines.includes(status), lines);
      await assertReturns(
        board,
        '200 "1"',
        () => board.run(`sudo mv executable ${EXECUTABLE}`),
      );
      await restoreSettings(board);
    },
  })),

  {
    name:
      "an unplugged sensor leaves at most 30 MB a day, and the service answers soon after it is plugged in",
    async run(board) {
      await configure(
        board,
        "FLAGS=--stdin",
        "SENSOR=cat /run/sensor && sleep infinity",
      );
      await assertSparesJournal(board, "datasensor-sensor");
      const lines = await journal(board, "datasensor-sensor");
      assert(lines.some((line) => line.includes("cat: /run/sensor: No such")));
      await assertReturns(
        board,
        '200 "21.5"',
        () => board.run("echo 21.5 | sudo tee /run/sensor"),
      );
      await restoreSettings(board);
    },
  },

  {
    name:
      "a sensor that logs the same error again and again leaves at most 30 MB a day",
    async run(board) {
      const before = await journalBytes(board);
      const repeat = "i=0; while [ $i -lt 3000 ]; do " +
        "i=$((i+1)); echo oops >&2; done; echo 1; sleep infinity";
      await configure(board, "FLAGS=--stdin", `SENSOR=${repeat}`);
      await board.waitForAnswer('200 "1"');
      // journald counts the lines of an hour
      const day = (await journalBytes(board) - before) * 24 / 1e6;
      console.log(`Journal: ${day.toFixed(1)} MB a day`);
      assert(day <= DAY_LIMIT_MB, `${day} MB a day`);
      const lines = await journal(board, "datasensor-sensor");
      assert(lines.includes("oops"));
      await restoreSettings(board);
    },
  },
];
