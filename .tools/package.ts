// deno-lint-ignore-file no-console -- it prints to the console by design

// Makes the Debian package out of the executable, of which dpkg-deb makes the
// archive. The same executable and files give the same package: every file gets the
// date of the changelog, and a mode that depends neither on the clone nor on the
// umask.

import { readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { HELP } from "../src/process/command_line.ts";
import { copy, finish, run, runTool } from "./build.ts";
import { compile } from "./compile.ts";
import { formatManual } from "./manual.ts";
import { readVersion } from "./version.ts";

/** The files of the package that need no change, as a tree. */
const TREE = ".board/package";

/** Where its documents come from. An operator installs the examples that are needed. */
const DOCUMENTS = {
  "README.md": ".board/README.md",
  "examples/consumers": ".board/consumers",
  "examples/avahi.service": ".board/avahi.service",
};

/** Debian's name of each processor. */
const ARCHITECTURES = new Map([["aarch64", "arm64"], ["x86_64", "amd64"]]);

await runTool(async (job) => {
  const { target, outputDir, folder } = job;
  const architecture = ARCHITECTURES.get(target);
  if (!architecture) throw new Error(`Unknown target "${target}"`);
  const version = await readVersion();
  const name = `datasensor_${version}_${architecture}.deb`;
  const file = `${outputDir}/${name}`;
  console.error(`Making ${file} with Deno ${Deno.version.deno}`);
  await run("dpkg-deb", ["--version"]).catch(explainMissing);
  const executable = await compile(version, job);
  const tree = `${folder}/tree`;
  const date = await stage(tree, executable, version, architecture);
  // Debian 11 cannot read zstd, the default on Ubuntu
  const build = ["-Zxz", "--root-owner-group", "--build", "tree", name];
  const env = { SOURCE_DATE_EPOCH: String(date), LC_ALL: "C" };
  await run("dpkg-deb", build, { cwd: folder, env });
  await finish(`${folder}/${name}`, file);
  // A fixed name, for the README's commands
  const link = `datasensor_${architecture}.deb`;
  await Deno.symlink(name, `${folder}/${link}`);
  await Deno.rename(`${folder}/${link}`, `${outputDir}/${link}`);
  const install = `ssh -t BOARD sudo apt install ./${name}`;
  console.log(`To install it: scp ${file} BOARD: && ${install}`);
});

/** Throws an error that explains how to install dpkg-deb, if it is not. */
function explainMissing(error: Error): never {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
  throw new Error(
    "dpkg-deb is not installed: install it with `apt install dpkg` on Debian or Ubuntu, or `brew install dpkg` on a Mac",
  );
}

/** Creates the tree of the package, and returns its date, in seconds. */
async function stage(
  tree: string,
  executable: string,
  version: string,
  architecture: string,
): Promise<number> {
  const shared = `${tree}/usr/share`;
  const documents = `${shared}/doc/datasensor`;
  await copy(TREE, tree);
  for (const [name, source] of Object.entries(DOCUMENTS)) {
    await copy(source, `${documents}/${name}`);
  }
  await Deno.mkdir(`${tree}/usr/bin`);
  await Deno.rename(executable, `${tree}/usr/bin/datasensor`);

  const changelog = (await Deno.readTextFile(`${documents}/changelog`))
    .replace(/(?<=^datasensor )\S+/, `(${version})`);
  const date = Date.parse(changelog.match(/^ -- .*> {2}(.*)$/m)![1]!) / 1000;
  await Deno.remove(`${documents}/changelog`);
  await writeCompressed(`${documents}/changelog.gz`, changelog);
  await Deno.mkdir(`${shared}/man/man1`, { recursive: true });
  const manual = formatManual(HELP, version, date);
  await writeCompressed(`${shared}/man/man1/datasensor.1.gz`, manual);

  let bytes = 0;
  for (const path of await readdir(tree, { recursive: true })) {
    const { isFile, size } = await Deno.stat(`${tree}/${path}`);
    if (isFile) bytes += size;
  }
  const control = formatControl(version, architecture, bytes);
  await Deno.writeTextFile(`${tree}/DEBIAN/control`, control);
  for (const path of [...await readdir(tree, { recursive: true }), "."]) {
    const isExecutable = /^usr\/bin\/|^DEBIAN\/(pre|post)/.test(path) ||
      (await Deno.stat(`${tree}/${path}`)).isDirectory;
    await Deno.chmod(`${tree}/${path}`, isExecutable ? 0o755 : 0o644);
    await Deno.utime(`${tree}/${path}`, date, date);
  }
  return date;
}

/** Formats the control file. */
function formatControl(
  version: string,
  architecture: string,
  bytes: number,
): string {
  return `Package: datasensor
Version: ${version}
Architecture: ${architecture}
Maintainer: The maintainers of datasensor <maintainers@datasensor.invalid>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.27), libgcc-s1
Section: net
Priority: optional
Description: serves a sensor reading as JSON over HTTP
 A small service for Linux boards. Any program that prints lines is a sensor:
 the last line is what HTTP clients read. The settings of the service and of
 the sensor are in /etc/default/datasensor.
`;
}

/** Writes a gzip file. */
async function writeCompressed(file: string, text: string): Promise<void> {
  await Deno.writeFile(file, gzipSync(text, { level: 9 }));
}
