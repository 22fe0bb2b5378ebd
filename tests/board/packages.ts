// What the PC has in `dist`: the package, and a later one that changes the settings.

import { make } from "../helpers/executable.ts";
import { output } from "../helpers/process.ts";
import { keep } from "./cache.ts";

/** A package to install, otherwise one is made of the sources. */
const GIVEN = Deno.env.get("DATASENSOR_PACKAGE");

/** What becomes part of the package. */
const BUILT = [
  ".github",
  ".tools",
  "README.md",
  "deno.json",
  "deno.lock",
  "main.ts",
  "src",
];

/** The variables that say with what it is made. */
const TOOLS = ["DENO_COMPILER", "DENORT_AARCH64", "DENORT_X86_64"];

/**
 * Makes a later version of a package: its executable is the same one, which takes
 * seconds. Adds the executable. All get the names of the guide, whatever this machine's processor is.
 */
const MAKE_LATER = `
package=$1
mkdir -p "$2"
cd "$2"
cp "$package" datasensor_arm64.deb
dpkg-deb -R datasensor_arm64.deb later
cp later/usr/bin/datasensor datasensor-aarch64
sed -i 's/^Version: .*/Version: 99.0.0/' later/DEBIAN/control
echo '# A new comment' >>later/etc/default/datasensor
dpkg-deb -Zgzip -z1 --root-owner-group --build later datasensor_99.0.0_arm64.deb
rm -r later`;

/** Returns the path of a folder with both packages, which are made if they are missing. */
export async function makePackages(): Promise<string> {
  const sources = GIVEN ? [GIVEN] : BUILT;
  const list = 'find "$@" -type f -exec sha256sum {} + | LC_ALL=C sort';
  const tools = TOOLS.map((name) => Deno.env.get(name));
  const key = [
    MAKE_LATER,
    Deno.version.deno,
    ...tools,
    await sh(list, sources),
  ];
  const path = `${Deno.cwd()}/dist/board`;
  await keep(path, key.join("\n"), async () => {
    await sh(MAKE_LATER, [GIVEN ?? await makePackage(path), path]);
  });
  return path;
}

/** Makes the package in a folder, and returns its path. */
async function makePackage(folder: string): Promise<string> {
  const processor = Deno.build.arch as "aarch64" | "x86_64";
  const { code, stderr } = await make("package", processor, folder);
  if (code !== 0) throw new Error(stderr);
  const architecture = processor === "aarch64" ? "arm64" : "amd64";
  return await Deno.realPath(`${folder}/datasensor_${architecture}.deb`);
}

/** Runs a script, and returns what it prints. */
async function sh(script: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await output("sh", [
    "-ec",
    script,
    "sh",
    ...args,
  ]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}
