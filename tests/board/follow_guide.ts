// The test of a board: the checks of the README and the guide, in order.

import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { output } from "../helpers/process.ts";
import { missingTerminal } from "../helpers/terminal.ts";
import { ATTACKS } from "./attacks.ts";
import { Board, type BoardKind } from "./board.ts";
import { BY_HAND } from "./by_hand.ts";
import { DAYS } from "./days.ts";
import { getImages, missingImage } from "./image.ts";
import { reset } from "./operations.ts";
import { SENSOR } from "./sensor.ts";
import { SERVICE } from "./service.ts";
import { isWithoutDeno, SOURCE } from "./source.ts";
import { makePackages, REMOVAL, UPDATE } from "./update.ts";

const dist = await Folder.create();
globalThis.addEventListener("unload", () => dist.remove());

const reason = await missingImage() ??
  await missingCommand("dpkg-deb", "git", "ssh") ??
  await missingTerminal() ?? await missingPackage();

/** Makes the packages, and the executable that they contain. */
async function missingPackage(): Promise<string | undefined> {
  const missing = await makePackages(dist.path);
  if (missing) return missing;
  const extract = `dpkg-deb --fsys-tarfile datasensor_arm64.deb |
    tar -xO ./usr/bin/datasensor >datasensor-aarch64
    chmod +x datasensor-aarch64`;
  await output("sh", ["-ec", extract], { cwd: dist.path });
}

/** Declares the test that follows the guide on an emulated board. */
export function followGuide(name: string, kind: BoardKind): void {
  testUnless(reason, `a board ${name}`, async (test) => {
    await using board = await Board.boot(kind, await getImages());
    // The guide's commands run in a clone of the project
    await Deno.symlink(dist.path, `${board.folder}/dist`);
    const all = [
      SERVICE,
      SENSOR,
      BY_HAND,
      ATTACKS,
      SOURCE,
      UPDATE,
      DAYS,
      REMOVAL,
    ];
    for (const checks of all) {
      for (const [name, check] of Object.entries(checks)) {
        const ignore = checks === SOURCE && isWithoutDeno() ||
          kind.skips.test(name);
        const fn = () => check(board);
        const passed = await test.step({ name, ignore, fn });
        if (!passed && !ignore) await reset(board);
      }
    }
  });
}
