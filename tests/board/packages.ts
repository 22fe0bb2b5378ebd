// The packages that are installed on a board: of a commit, and of a later one.

import { BUILT } from "../../.tools/version.ts";
import { make } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { ARCHITECTURES, type Processor } from "./board.ts";
import { CachedFolder } from "./cache.ts";

/** A package to install in place of that of the earlier commit, if it is set. */
const GIVEN = Deno.env.get("DATASENSOR_PACKAGE");

/** The variables that say with what they are made. */
const TOOLS = ["DENO_COMPILER", "DENORT_AARCH64", "DENORT_X86_64"];

/** A folder like `dist`, with both packages and the executable of the older one. */
export interface Packages {
  readonly folder: string;
  /** The name of the package of a commit, to which the fixed name leads. */
  readonly older: string;
  /** The name of the package of a later commit, whose settings have a new comment. */
  readonly newer: string;
}

/** Returns the fixed name of a package. */
function fixedName(processor: Processor): string {
  return `datasensor_${ARCHITECTURES[processor]}.deb`;
}

/** The packages for a processor. */
export function packagesFor(processor: Processor): CachedFolder {
  const tools = TOOLS.map((name) => Deno.env.get(name));
  return new CachedFolder(
    `packages-${processor}`,
    GIVEN ? [...BUILT, GIVEN] : BUILT,
    () => [processor, Deno.version.deno, GIVEN, ...tools].join(),
    (folder) => makePackages(processor, folder),
  );
}

/** Returns what is in the folder with the packages for a processor. */
export async function findPackages(processor: Processor): Promise<Packages> {
  const folder = await packagesFor(processor).find();
  const older = await Deno.readLink(`${folder}/${fixedName(processor)}`);
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  const newer = names.find((name) =>
    name.endsWith(".deb") && ![older, fixedName(processor)].includes(name)
  );
  return { folder, older, newer: newer! };
}

async function makePackages(
  processor: Processor,
  into: string,
): Promise<void> {
  const fixed = fixedName(processor);
  const newest = GIVEN ? new Date().toISOString() : "2026-11-22T16:30:00Z";
  using folder = await Folder.create();
  await Promise.all([
    GIVEN
      ? copyPackage(GIVEN, fixed, into)
      : makePackage(processor, "2026-11-22T16:29:00Z", "", into),
    makePackage(processor, newest, "# A new comment\n", folder.path),
  ]);
  const script = `cp -P "$1"/datasensor_*+*.deb "$2"
    cd "$2"
    dpkg-deb --fsys-tarfile "$3" | tar -xO ./usr/bin/datasensor >"$4"
    chmod +x "$4"`;
  const executable = `datasensor-${processor}`;
  await run(script, folder.path, into, fixed, executable);
}

/** Makes the package of a commit at a time, which adds a comment to the settings. */
async function makePackage(
  processor: Processor,
  time: string,
  comment: string,
  into: string,
): Promise<void> {
  using clone = await Folder.ofProject();
  const settings = `${clone.path}/src/board/package/etc/default/datasensor`;
  await Deno.writeTextFile(settings, comment, { append: true });
  await clone.commit(time);
  const options = { cwd: clone.path };
  const { code, stderr } = await make("package", processor, into, options);
  if (code !== 0) throw new Error(stderr);
}

/** Copies a package under its own name, to which the fixed name then leads. */
async function copyPackage(
  file: string,
  fixedName: string,
  into: string,
): Promise<void> {
  const show = "${Package}_${Version}_${Architecture}.deb";
  const script = `name=$(dpkg-deb --show --showformat "$4" "$1")
    cp "$1" "$2/$name"
    ln -s "$name" "$2/$3"`;
  await run(script, file, into, fixedName, show);
}

async function run(script: string, ...args: string[]): Promise<void> {
  const { code, stderr } = await output("sh", ["-ec", script, "sh", ...args]);
  if (code !== 0) throw new Error(stderr);
}
