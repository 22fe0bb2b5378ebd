// deno-lint-ignore-file no-console -- how a crowd fares is a result

// Checks the service that runs from its source with the current Deno, under the unit's
// limits and sandbox: crowds of clients, which an executable survives only if it was
// made with such a Deno.

import { assert, assertEquals } from "@std/assert";
import { output } from "../helpers/process.ts";
import { getDenoFlags } from "../helpers/program.ts";
import type { Board } from "./board.ts";
import type { Crowd } from "./crowd_clients.ts";
import { type Check, edit, property, revert } from "./operations.ts";

/** Where the source, Deno and its cache are on the board. */
const FOLDER = "/opt/datasensor";

/** The drop-in that runs the service from its source. */
const DROP_IN = `[Service]
WorkingDirectory=${FOLDER}
Environment=DENO_DIR=${FOLDER} DENO_NO_UPDATE_CHECK=1
ExecPaths=${FOLDER}/deno
ExecStart=
ExecStart=${FOLDER}/deno run --cached-only ${
  getDenoFlags().join(" ")
} main.ts --no-debug --journal $FLAGS
`;

/**
 * How long the slowest client of a burst may wait, in ms. A client whose connection was
 * dropped repeats it after 1, 3, 7 and 15 s; most wait for less than one.
 */
const SLOWEST_LIMIT_MS = 20_000;

/** Makes the unit run the source, unless it does: a failed check ends it. */
async function runSource(board: Board): Promise<void> {
  if ((await property(board, "ExecStart")).includes(FOLDER)) return;
  await edit(board, DROP_IN);
  await board.waitForAnswer('200 "Sensor data"');
}

/** Sends a crowd of clients, which run on the board, and prints how they fare. */
async function sendCrowd(
  board: Board,
  how: "burst" | "hold",
  count: number,
): Promise<Crowd> {
  await runSource(board);
  const crowd = JSON.parse(
    await board.run(
      `${FOLDER}/deno run --quiet --no-config --no-lock --allow-net=127.0.0.1 \
${FOLDER}/tests/board/crowd_clients.ts ${how} ${count}`,
    ),
  );
  console.log(
    `${how} ${count}: ${crowd.answered} answered, ` +
      `${(crowd.slowest / 1000).toFixed(1)} s at most`,
  );
  return crowd;
}

/** The checks of the service that runs from its source. */
export const CROWDS: Check[] = [
  {
    name: "the unit runs the service from its source with the current Deno",
    async run(board) {
      const info = await output(Deno.execPath(), ["info", "--json"]);
      const { denoDir } = JSON.parse(info.stdout);
      const project = Deno.cwd();
      // Of the cache, only the packages
      await board.runOnOperator(`tar -c -C ${project} main.ts src deno.json \
  deno.lock .tools/std tests/helpers tests/board/crowd_clients.ts \
  -C ${denoDir} $(cd ${denoDir}; ls -d npm remote 2>/dev/null || true) \
  -C ${Deno.execPath().replace(/[^/]*$/, "")} deno |
ssh BOARD 'sudo mkdir ${FOLDER} && sudo tar -x --no-same-owner -C ${FOLDER}'`);
      await runSource(board);
    },
  },

  {
    name: "60 clients at once are answered",
    async run(board) {
      for (let round = 0; round < 3; round++) {
        const { answered, slowest } = await sendCrowd(board, "burst", 60);
        assertEquals(answered, 60);
        assert(slowest <= SLOWEST_LIMIT_MS, `One waited ${slowest} ms`);
      }
    },
  },

  {
    name:
      "new clients are answered while others hold more connections than there are descriptors",
    async run(board) {
      const limit = Number(await property(board, "LimitNOFILE"));
      const { answered } = await sendCrowd(board, "hold", limit + 10);
      // Without the wait before connections are closed, none is answered
      assertEquals(answered, 4);
    },
  },

  {
    name: "without the drop-in, the unit runs the executable again",
    async run(board) {
      await revert(board);
      await board.waitForAnswer('200 "Sensor data"');
      await board.run(`sudo rm -r ${FOLDER}`);
    },
  },
];
