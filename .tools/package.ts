// deno-lint-ignore-file no-console -- it prints to the console by design

// Makes the Debian package out of the executable, of which dpkg-deb makes the
// archive. The same executable and files give the same package: every file gets the
// date of the changelog, and a mode that depends neither on the clone nor on the
// umask.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import project from "../deno.json" with { type: "json" };
import { HELP } from "../src/process/command_line.ts";
import { copy, finish, parseFlags, run, runTool, withFolder } from "./build.ts";
import { formatManual } from "./manual.ts";
import { warningIfTooOld } from "./oldest_deno.ts";

/** The files of the package that need no change, as a tree. */
const TREE = ".board/package";

/** Files that become examples: an operator installs those that are needed. */
const EXAMPLES = [".board/consumers", ".board/avahi.service"];

/** Debian's name of each processor. */
const ARCHITECTURES = new Map([["aarch64", "arm64"], ["x86_64", "amd64"]]);

await runTool(async () => {
  const { target, "output-dir": outputDir } = parseFlags();
  const architecture = ARCHITECTURES.get(target);
  if (!architecture) throw new Error(`Unknown target "${target}"`);
  const name = `datasensor_${project.version}_${architecture}.deb`;
  console.error(`Making ${outputDir}/${name} with Deno ${Deno.version.deno}`);
  await requireDpkg();
  await withFolder(outputDir, async (folder) => {
    const compile = ["task", "-q", "compile", `--target=${target}`];
    const args = [...compile, `--output-dir=${folder}`];
    // The first two lines are the size and the digest of the executable
    const [, , ...notes] = (await run(Deno.execPath(), args)).split("\n");
    const date = await stage(
      `${folder}/tree`,
      `${folder}/datasensor-${target}`,
      architecture,
    );
    // Debian 11 cannot read zstd, the default on Ubuntu
    const build = ["-Zxz", "--root-owner-group", "--build", "tree", name];
    const env = { SOURCE_DATE_EPOCH: String(date), LC_ALL: "C" };
    await run("dpkg-deb", build, { cwd: folder, env });
    await finish(`${folder}/${name}`, `${outputDir}/${name}`);
    for (const note of notes.filter(Boolean)) console.log(note);
    const warning = warningIfTooOld(); // compile's is not shown
    if (warning) console.error(warning);
  });
});

/** Throws unless dpkg-deb is installed. */
async function requireDpkg(): Promise<void> {
  try {
    await run("dpkg-deb", ["--version"]);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(
      "dpkg-deb is not installed: install it with `apt install dpkg` on Debian or Ubuntu, or `brew install dpkg` on a Mac",
    );
  }
}

/** Creates the tree of the package, and returns its date, in seconds. */
async function stage(
  tree: string,
  executable: string,
  architecture: string,
): Promise<number> {
  const shared = `${tree}/usr/share`;
  const documents = `${shared}/doc/datasensor`;
  await copy(TREE, tree);
  for (const example of EXAMPLES) {
    const name = example.split("/").at(-1);
    await copy(example, `${documents}/examples/${name}`);
  }
  await Deno.mkdir(`${tree}/usr/bin`);
  await Deno.rename(executable, `${tree}/usr/bin/datasensor`);

  const changelog = await Deno.readTextFile(`${documents}/changelog`);
  const date = Date.parse(changelog.match(/^ -- .*> {2}(.*)$/m)![1]!) / 1000;
  await Deno.remove(`${documents}/changelog`);
  await writeCompressed(`${documents}/changelog.gz`, changelog);
  await Deno.mkdir(`${shared}/man/man1`, { recursive: true });
  const manual = formatManual(HELP, project.version, date);
  await writeCompressed(`${shared}/man/man1/datasensor.1.gz`, manual);

  const files = (await list(tree)).filter(({ isFile }) => isFile)
    .map(({ path }) => path.slice(tree.length + 1))
    .filter((path) => !path.startsWith("DEBIAN/")).toSorted();
  let bytes = 0;
  let sums = "";
  for (const path of files) {
    const content = await Deno.readFile(`${tree}/${path}`);
    bytes += content.length;
    sums += `${createHash("md5").update(content).digest("hex")}  ${path}\n`;
  }
  await Deno.writeTextFile(`${tree}/DEBIAN/md5sums`, sums);
  const control = formatControl(architecture, Math.ceil(bytes / 1024));
  await Deno.writeTextFile(`${tree}/DEBIAN/control`, control);

  for (const { path, isFile } of await list(tree)) {
    const isExecutable = !isFile || path.endsWith("/usr/bin/datasensor") ||
      /\/DEBIAN\/(pre|post)/.test(path);
    await Deno.chmod(path, isExecutable ? 0o755 : 0o644);
    await Deno.utime(path, date, date);
  }
  return date;
}

/** Formats the control file. */
function formatControl(architecture: string, installedSize: number): string {
  return `Package: datasensor
Version: ${project.version}
Architecture: ${architecture}
Maintainer: The maintainers of datasensor <maintainers@datasensor.invalid>
Installed-Size: ${installedSize}
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

/** Lists the files and folders below a folder, and then the folder itself. */
async function list(
  path: string,
): Promise<{ path: string; isFile: boolean }[]> {
  const entries = [];
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    const entry = `${path}/${name}`;
    entries.push(
      ...isDirectory ? await list(entry) : [{ path: entry, isFile: true }],
    );
  }
  return [...entries, { path, isFile: false }];
}
