// deno-lint-ignore-file no-console -- it prints to the console by design

// Makes what the tests of boards need, which takes a minute or two, before they start
// side by side.
//
// Usage: prepare.ts container | arm

import { missingCommand } from "../helpers/needs.ts";
import type { Processor } from "./board.ts";
import {
  CONTAINERS,
  DISKS,
  missingContainer,
  missingEmulator,
} from "./image.ts";
import { packagesFor } from "./packages.ts";

/** A kind of machine that a board can be. */
type MachineKind = "container" | "arm";

/** Tells what is missing to test boards of a kind. */
export async function missingBoard(
  kind: MachineKind,
): Promise<string | undefined> {
  const missing = kind === "arm" ? await missingEmulator() : missingContainer();
  return missing ?? missingCommand("dpkg-deb", "git", "ssh");
}

/** Makes what boards of a kind need. */
async function prepare(kind: MachineKind): Promise<void> {
  const processor = kind === "arm" ? "aarch64" : Deno.build.arch as Processor;
  const images = kind === "arm" ? DISKS : CONTAINERS;
  console.log(`Making the packages for ${processor}`);
  await Promise.all([images.make(), packagesFor(processor).make()]);
}

if (import.meta.main) {
  const kind = Deno.args[0] as MachineKind;
  const reason = await missingBoard(kind);
  if (reason) console.log(`Skipped: ${reason}`);
  else await prepare(kind);
}
