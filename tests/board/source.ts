// deno-lint-ignore-file no-console -- how a crowd fares is a result

// Checks the service that runs from its source with the current Deno, under the unit's
// limits: crowds of clients, which the executable survives only if it was made with
// such a Deno.

import { assert, assertEquals } from "@std/assert";
import { output } from "../helpers/process.ts";
import { getDenoFlags } from "../helpers/program.ts";
import { attack } from "./attacks.ts";
import type { Board } from "./board.ts";
import type { Crowd } from "./crowd.ts";
import { type Checks, edit, property, revert } from "./operations.ts";

/** A current Deno for the board, without which these checks are skipped. */
const DENO = Deno.env.get("DENO_AARCH64");

/** Returns whether to skip these checks. In CI, they fail instead. */
export function isWithoutDeno(): boolean {
  return !DENO && !Deno.env.has("CI");
}

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

/** How long the slowest client of a burst may wait, in ms. */
const WAIT_LIMIT_MS = 20_000;

/** Makes the unit run the source, unless it does: a failed check ends it. */
async function runSource(board: Board): Promise<void> {
  if ((await property(board, "ExecStart")).includes(FOLDER)) return;
  await edit(board, DROP_IN);
  await board.waitForAnswer('200 "Sensor data"');
}

/** Runs a crowd of clients on the board. */
async function meet(board: Board, how: string, count: number): Promise<Crowd> {
  await runSource(board);
  const crowd = JSON.parse(
    await board.run(
      `${FOLDER}/deno run --quiet --no-config --no-lock --allow-net=127.0.0.1 \
${FOLDER}/tests/board/crowd.ts ${how} ${count}`,
    ),
  );
  console.log(
    `| ${how} ${count} | ${board.kind.pages} | ${crowd.answered} answered | ` +
      `${(crowd.slowest / 1000).toFixed(1)} s at most |`,
  );
  return crowd;
}

/** The checks of the service that runs from its source. */
export const SOURCE: Checks = {
  async "the unit runs the service from its source with the current Deno"(
    board,
  ) {
    const info = await output(Deno.execPath(), ["info", "--json"]);
    const { denoDir } = JSON.parse(info.stdout);
    const project = Deno.cwd();
    // Of the cache, only the packages
    await board.runOnOperator(`tar -cz -C ${project} main.ts src deno.json \
  deno.lock .tools/std tests/helpers tests/board/crowd.ts \
  -C ${denoDir} $(cd ${denoDir}; ls -d npm remote 2>/dev/null || true) \
  -C ${DENO!.replace(/\/[^/]*$/, "")} deno |
ssh BOARD 'sudo mkdir ${FOLDER} && sudo tar -xz --no-same-owner -C ${FOLDER}'`);
    await runSource(board);
  },

  async "60 clients at once are answered"(board) {
    for (let round = 0; round < 3; round++) {
      const { answered, slowest } = await meet(board, "burst", 60);
      assertEquals(answered, 60);
      assert(slowest <= WAIT_LIMIT_MS, `One waited ${slowest} ms`);
    }
  },

  async "new clients are answered while others hold more connections than there are descriptors"(
    board,
  ) {
    const limit = Number(await property(board, "LimitNOFILE"));
    const { answered } = await meet(board, "hold", limit + 10);
    // Holders that reconnect keep an emulated processor busy: 3 to 14 of 20 clients were
    // answered, on a PC all. Without the wait before connections are closed, none is
    assertEquals(answered, 4);
  },

  async "the service survives 950 clients at once, three times"(board) {
    await runSource(board);
    const before = await property(board, "MainPID");
    for (let round = 0; round < 3; round++) {
      await meet(board, "burst", 950);
      await board.waitForAnswer("200");
    }
    assertEquals(await property(board, "MainPID"), before);
  },

  async "the service survives empty frames"(board) {
    await runSource(board);
    await board.run("sudo systemctl restart datasensor");
    await board.waitForAnswer("200");
    await attack(board, "empty frames of a GET", "source");
  },

  async "without the drop-in, the unit runs the executable again"(board) {
    await revert(board);
    await board.waitForAnswer('200 "Sensor data"');
    await board.run(`sudo rm -r ${FOLDER}`);
  },
};
