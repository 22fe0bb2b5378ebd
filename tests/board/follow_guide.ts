// What the tests of boards do: the checks of the README and the guide, in order.

import { ATTACKS } from "./attacks.ts";
import { Board, type BoardKind } from "./board.ts";
import { CROWDS } from "./crowds.ts";
import { DOCTOR_CHECKS } from "./doctor.ts";
import { EXECUTABLE } from "./executable.ts";
import { FAILURES } from "./failures.ts";
import { type Check, reset } from "./operations.ts";
import { findPackages } from "./packages.ts";
import { SENSOR } from "./sensor.ts";
import { INSTALLATION, SERVICE } from "./service.ts";
import { REMOVAL, UPDATES } from "./updates.ts";
import { WEAR } from "./wear.ts";

/** The chapters, which containers follow side by side. */
const CHAPTERS = {
  service: [SERVICE, EXECUTABLE, CROWDS, UPDATES, REMOVAL],
  sensor: [SENSOR, FAILURES],
  wear: [WEAR],
  doctor: [DOCTOR_CHECKS],
};

/** The chapters that emulated boards follow, in order. */
const ON_EMULATORS = [
  SERVICE,
  EXECUTABLE,
  ATTACKS,
  SENSOR,
  UPDATES,
  FAILURES,
  REMOVAL,
];

/** Follows a chapter of the guide in a container. */
export function followInContainer(
  test: Deno.TestContext,
  kind: BoardKind,
  chapter: keyof typeof CHAPTERS,
): Promise<void> {
  const checks = [INSTALLATION, ...CHAPTERS[chapter]].flat();
  return follow(test, kind, checks.filter(({ needs }) => !needs));
}

/** Follows on an emulated board what needs one, and once the way that users go. */
export function followOnEmulator(
  test: Deno.TestContext,
  kind: BoardKind,
): Promise<void> {
  const checks = [INSTALLATION, ...ON_EMULATORS].flat();
  const isFollowed = ({ needs, isOnTheWay = false }: Check) =>
    needs ? needs.every((need) => kind.has.includes(need)) : isOnTheWay;
  return follow(test, kind, checks.filter(isFollowed));
}

async function follow(
  test: Deno.TestContext,
  kind: BoardKind,
  checks: Check[],
): Promise<void> {
  const packages = await findPackages(kind.processor);
  await using board = await Board.boot(kind, packages);
  for (const { name, run } of checks) {
    const passed = await test.step(name, () => run(board));
    if (!passed) await reset(board);
  }
}
