// The test of a board: the checks of the README and the guide, in order.

import { compile } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { missingTerminal } from "../helpers/terminal.ts";
import { Board, type BoardKind } from "./board.ts";
import { ATTACKS } from "./attacks.ts";
import { BY_HAND } from "./by_hand.ts";
import { getImages, missingImage } from "./image.ts";
import { reset } from "./operations.ts";
import { SENSOR } from "./sensor.ts";
import { REMOVAL, SERVICE } from "./service.ts";

const dist = await Folder.create();
globalThis.addEventListener("unload", () => dist.remove());

const reason = await missingImage() ?? await missingCommand("ssh") ??
  await missingTerminal() ?? await missingExecutable();

async function missingExecutable(): Promise<string | undefined> {
  const { code, stderr } = await compile("aarch64", dist.path);
  if (code !== 0) return `no executable for aarch64: ${stderr.trim()}`;
}

/** Declares the test that follows the guide on an emulated board. */
export function followGuide(name: string, kind: BoardKind): void {
  testUnless(reason, `a board ${name}`, async (test) => {
    await using board = await Board.boot(kind, await getImages());
    // The guide's commands run in a clone of the project
    await Deno.symlink(dist.path, `${board.folder}/dist`);
    await Deno.symlink(await Deno.realPath(".board"), `${board.folder}/.board`);
    // With the controller, MemoryMax= limits what an attack takes
    const attacks = kind.memoryController ? {} : ATTACKS;
    for (const checks of [SERVICE, SENSOR, BY_HAND, attacks, REMOVAL]) {
      for (const [name, check] of Object.entries(checks)) {
        const passed = await test.step(name, () => check(board));
        if (!passed) await reset(board);
      }
    }
  });
}
