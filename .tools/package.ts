// deno-lint-ignore-file no-console -- it prints to the console by design

// Makes the Debian package out of the executable, of which dpkg-deb makes the
// archive. The same executable and files give the same package: every file gets the
// date of the changelog, and a mode that depends neither on the clone nor on the
// umask.

import { readdir } from "node:fs/promises";
import { dirname, relative } from "node:path/posix";
import { copy, finish, run, runTool } from "./build.ts";
import { compile } from "./compile.ts";
import { formatManual } from "./manual.ts";
import { listIgnored, readVersion } from "./version.ts";

const DOCUMENTS = "usr/share/doc/datasensor";

/** The files of src/readers that a board can use: its operator installs some of them. */
const EXAMPLES = [
  "README.md",
  "datasensor-mqtt@.service",
  "datasensor_rules.yml",
  "graph.html",
  "mosquitto.sh",
  "nginx.conf",
];

/** Where the files of the package come from, by their place on the board. */
const FILES: Record<string, string> = {
  "": "src/board/package",
  [`${DOCUMENTS}/README.md`]: "README.md",
  [`${DOCUMENTS}/guide.md`]: "src/board/README.md",
};
for (const name of EXAMPLES) {
  FILES[`${DOCUMENTS}/examples/${name}`] = `src/readers/${name}`;
}

/** Debian's name of each processor. */
const ARCHITECTURES = new Map([["aarch64", "arm64"], ["x86_64", "amd64"]]);

await runTool(async (job) => {
  const { target, outputDir, folder } = job;
  const architecture = ARCHITECTURES.get(target);
  if (!architecture) throw new Error(`Unknown target "${target}"`);
  await run("dpkg-deb", ["--version"]).catch(explainMissing);
  const version = await readVersion();
  const name = `datasensor_${version}_${architecture}.deb`;
  const file = `${outputDir}/${name}`;
  console.error(`Making ${file} with Deno ${Deno.version.deno}`);
  const executable = await compile(version, job);
  const date = await stage(folder, executable, version, architecture);
  // Ubuntu's default differs, and the same sources must give the same bytes. Level 6 takes
  // seven times as long for a package that is 13 % smaller
  const build = ["-Zxz", "-z1", "--root-owner-group", "--build", "tree", name];
  const env = { SOURCE_DATE_EPOCH: String(date), LC_ALL: "C" };
  await run("dpkg-deb", build, { cwd: folder, env });
  await finish(`${folder}/${name}`, file);
  // A fixed name, for the README's commands
  const link = `datasensor_${architecture}.deb`;
  await Deno.symlink(name, `${folder}/${link}`);
  await Deno.rename(`${folder}/${link}`, `${outputDir}/${link}`);
  const install = architecture === "arm64"
    ? `scp ${file} BOARD: && ssh -t BOARD sudo apt install ./${name}`
    : `sudo apt install ${file.replace(/^(?!\/)/, "./")}`;
  console.log(`To install it: ${install}`);
});

/** Throws an error that explains how to install dpkg-deb, if it is not. */
function explainMissing(error: Error): never {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
  throw new Error(
    "dpkg-deb is not installed: install it with `apt install dpkg` on Debian or Ubuntu, or `brew install dpkg` on a Mac",
  );
}

/** Creates the package's files in a folder, and returns their date, in seconds. */
async function stage(
  folder: string,
  executable: string,
  version: string,
  architecture: string,
): Promise<number> {
  const tree = `${folder}/tree`;
  await copy("README.md", `${folder}/README.md`);
  for (const room of ["board", "readers"]) {
    await copy(`src/${room}`, `${folder}/src/${room}`);
  }
  for (const file of await listIgnored("src/board")) {
    await Deno.remove(`${folder}/${file}`);
  }
  for (const [path, source] of Object.entries(FILES)) {
    await copy(`${folder}/${source}`, `${tree}/${path}`);
    if (!source.endsWith(".md")) continue;
    await edit(`${tree}/${path}`, (text) => adaptLinks(text, source, path));
  }
  await Deno.rename(executable, `${tree}/usr/bin/datasensor`);

  const changelog = `${tree}/${DOCUMENTS}/changelog`;
  const manuals = ["datasensor"]
    .map((name) => `${tree}/usr/share/man/man1/${name}.1`);
  const text = await Deno.readTextFile(changelog);
  const date = Date.parse(text.match(/^ -- .*> {2}(.*)$/m)![1]!) / 1000;
  let bytes = 0;
  for (const path of await readdir(tree, { recursive: true })) {
    const { isFile, size } = await Deno.stat(`${tree}/${path}`);
    if (isFile) bytes += size;
  }
  const values: Record<string, string> = {
    ...formatManual(),
    ARCHITECTURE: architecture,
    DATE: new Date(date * 1000).toISOString().slice(0, 10),
    KIBIBYTES: `${Math.ceil(bytes / 1024)}`,
    RELEASE: version.split("+")[0]!, // the footer has no room for the commit
    VERSION: version,
  };
  for (const file of [changelog, ...manuals, `${tree}/DEBIAN/control`]) {
    await edit(
      file,
      (text) => text.replace(/@([A-Z]+)@/g, (_, name) => values[name]!),
    );
  }
  await run("gzip", ["-9n", changelog, ...manuals]);
  for (const path of [...await readdir(tree, { recursive: true }), "."]) {
    const isExecutable =
      /^usr\/(bin|lib\/datasensor)\/|^DEBIAN\/(pre|post)/.test(path) ||
      (await Deno.stat(`${tree}/${path}`)).isDirectory;
    await Deno.chmod(`${tree}/${path}`, isExecutable ? 0o755 : 0o644);
    await Deno.utime(`${tree}/${path}`, date, date);
  }
  return date;
}

/** Makes a document's links lead to the package's files, and removes the others. */
function adaptLinks(document: string, source: string, path: string): string {
  const link = /!?\[([^\]]+)\]\(([^)#]+)(#[^)]+)?\)/g; // not within the document
  return document.replace(link, (link, text, target, anchor = "") => {
    const { protocol, pathname } = new URL(target, `file:///${source}`);
    if (protocol !== "file:") return link;
    const installed = findInstalled(pathname.slice(1));
    if (installed === undefined) return text;
    return `[${text}](${relative(dirname(path), installed)}${anchor})`;
  });
}

/** Returns where the package has a file, if an operator may look for it. */
function findInstalled(file: string): string | undefined {
  for (const [path, source] of Object.entries(FILES)) {
    const isDocument = path.startsWith(DOCUMENTS);
    if (isDocument && `${file}/`.startsWith(`${source}/`)) {
      return path + file.slice(source.length);
    }
  }
}

/** Changes the text of a file. */
async function edit(
  file: string,
  change: (text: string) => string,
): Promise<void> {
  await Deno.writeTextFile(file, change(await Deno.readTextFile(file)));
}
