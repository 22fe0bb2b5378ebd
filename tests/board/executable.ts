// deno-lint-ignore-file no-console -- the memory taken is a result

// Checks the executable that is started by hand, as the README says, and its
// memory.

import { assert, assertEquals } from "@std/assert";
import { parseAccessLine } from "../helpers/access_line.ts";
import { guide, readme } from "../helpers/guide.ts";
import { Program } from "../helpers/program.ts";
import { onTerminal } from "../helpers/terminal.ts";
import { type Board, WAIT_LIMIT_MS } from "./board.ts";
import { measureLoad } from "./measures.ts";
import { type Check, property } from "./operations.ts";

/** The highest ratio of the service's memory to that in the guide. */
const MEMORY_TOLERANCE = 1.2;

/** The README's command that starts the executable. */
const START = readme.line("ulimit -n");

/** The README's command that copies the executable. */
const COPY = readme.line("scp dist/datasensor-aarch64");

/** What the guide says of its memory, by the size of the board's memory pages. */
const SAID_MEMORY = {
  4: guide.match(/4 KB.*\| (\d+) MB +\| (\d+) MB/),
  16: guide.match(/16 KB.*\| (\d+) MB +\| (\d+) MB/),
};

/** How much the guide says that the journal needs. */
const [, SAID_KILOBYTES] = guide.match(/about ([\d.]+) KB per\s+request/);

/** Copies the executable, and starts it on a terminal, with the README's commands. */
export async function startByHand(board: Board): Promise<Program> {
  await board.runOnOperator(COPY);
  const run = onTerminal(["bash", "-c", START], "", board.environment);
  const program = new Program(...run);
  await program.waitUntilListening();
  return program;
}

/** The checks of the README's section "On a board". */
export const EXECUTABLE: Check[] = [
  {
    name: "the service takes as much memory and journal as the guide says",
    needs: ["an ARM processor"],
    async run(board) {
      await board.waitForAnswer('200 "Sensor data"');
      const pid = await property(board, "MainPID");
      const { idleMb, loadedMb, journalKb } = await measureLoad(board);
      assertEquals(await property(board, "MainPID"), pid);
      console.log(
        `Resident memory: ${idleMb} MB idle, ${loadedMb} MB after 10,000; ` +
          `journal: ${journalKb} KB per request`,
      );
      const { pages } = board.kind;
      const row = SAID_MEMORY[pages];
      const excess = Math.max(
        idleMb / Number(row[1]),
        loadedMb / Number(row[2]),
      );
      assert(excess <= MEMORY_TOLERANCE, `${excess} times as much`);
      const error = Math.abs(journalKb - Number(SAID_KILOBYTES));
      assert(error < 0.1, `${journalKb} KB per request`);
    },
  },

  {
    name: "the README's commands start the service, and Ctrl+C stops it",
    async run(board) {
      await board.run("sudo systemctl stop datasensor");
      await using program = await startByHand(board);
      await board.waitForAnswer('200 "Sensor data"');
      await program.write("\x03");
      assertEquals((await program.waitForEnd(WAIT_LIMIT_MS)).code, 0);
      const lines = program.stdout.split(/\r?\n/); // the board's terminal adds CR
      const { request, status } = lines.map(parseAccessLine).find(Boolean)!;
      assertEquals(`${request} ${status}`, "GET /datasensor 200");
      assertEquals(await board.answer(), "no answer");
    },
  },
];
