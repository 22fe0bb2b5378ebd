// Makes the Debian package, and looks into it. tests/board installs it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { COMPUTE_LIMIT_MS, makeFromCommit } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { listBrokenLinks } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";
import { missing, skipIf } from "../helpers/skip.ts";

const DOCUMENTS = "usr/share/doc/datasensor";
const NAME = "datasensor_arm64.deb";

const clone = await Folder.ofProject();
globalThis.addEventListener("unload", () => clone.remove());
const folder = `${clone.path}/dist`;

const reason = missing("dpkg-deb", "git", "lintian", "readelf") ??
  await makeFromCommit("package", "aarch64", clone);
let version = "";
if (!reason) {
  version = (await run("echo datasensor_*_arm64.deb")).split("_")[1]!;
  await run(`dpkg-deb -R ${NAME} tree`);
}

/** Runs a shell script in the folder with the package. Throws if it fails. */
async function run(script: string): Promise<string> {
  const options = { cwd: folder };
  const args = ["-ec", script];
  const { code, stdout, stderr } = await output(
    "sh",
    args,
    options,
    COMPUTE_LIMIT_MS,
  );
  if (code !== 0) throw new Error(`${script}\n${stdout}${stderr}`);
  return stdout;
}

/** Defines a test of the package. */
function test(name: string, check: () => Promise<void>): void {
  Deno.test(skipIf(reason, name), check);
}

test("the package contains these files", async () => {
  const files = await run(`dpkg-deb -c ${NAME} | grep -v ^d |
    sed -E 's/ +[0-9]+ [^ ]+ [^ ]+ / /'`); // the size and the time
  assertEquals(files.split("\n"), [
    "-rw-r--r-- root/root ./etc/default/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/ds18b20",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor-sensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.service",
    "-rw-r--r-- root/root ./usr/lib/sysusers.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/lib/tmpfiles.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/share/datasensor/datasensor_rules.yml",
    "-rw-r--r-- root/root ./usr/share/datasensor/examples.conf",
    "-rw-r--r-- root/root ./usr/share/datasensor/nginx.conf",
    "-rwxr-xr-x root/root ./usr/share/datasensor/sensors.sh",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/.github/CONTRIBUTING.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/.github/SECURITY.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/changelog.gz",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/copyright",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/src/board/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/src/readers/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/src/readers/page.png",
    "-rw-r--r-- root/root ./usr/share/lintian/overrides/datasensor",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor.1.gz",
    "lrwxrwxrwx root/root ./usr/share/doc/datasensor/src/board/examples.conf -> ../../../../datasensor/examples.conf",
    "lrwxrwxrwx root/root ./usr/share/doc/datasensor/src/board/sensors.sh -> ../../../../datasensor/sensors.sh",
    "lrwxrwxrwx root/root ./usr/share/doc/datasensor/src/readers/datasensor_rules.yml -> ../../../../datasensor/datasensor_rules.yml",
    "lrwxrwxrwx root/root ./usr/share/doc/datasensor/src/readers/nginx.conf -> ../../../../datasensor/nginx.conf",
    "",
  ]);
});

test("the package has the version of the executable", async () => {
  assertMatch(version, /^\d+\.\d+\.\d+\+202611221629\d\d\.[0-9a-f]{7}$/);
  assertEquals(await run(`dpkg-deb -f ${NAME} Version`), `${version}\n`);
  // In deno.json, which it contains
  await run(`grep -aqF '"version": "${version}"' tree/usr/bin/datasensor`);
});

test("the package says how much space it takes, in KiB", async () => {
  const files = await run(`dpkg-deb -c ${NAME} |
      awk '{ bytes += $3 } END { print bytes / 1024 }'`);
  const said = Number(await run(`dpkg-deb -f ${NAME} Installed-Size`));
  assertEquals(Math.round(said / Number(files) * 100), 100);
});

test("a package with placeholders, such as today's, is not published", async () => {
  const workflow = await Deno.readTextFile(".github/workflows/ci.yml");
  const [, step] = workflow.match(
    /- name: Refuse placeholders\n(?: +[a-z-]+: .*\n)+? +run: \|\n((?: {10}.*\n)+)/,
  )!;
  const run = ["-ec", step!];
  const { code, stdout } = await output("bash", run, { cwd: folder });
  assertEquals(code, 1);
  const files = stdout.split("\n").filter((it) => it.startsWith("package/"));
  assertEquals(files.sort(), [
    "package/DEBIAN/control",
    `package/${DOCUMENTS}/.github/SECURITY.md`,
    `package/${DOCUMENTS}/README.md`,
    `package/${DOCUMENTS}/changelog`,
    `package/${DOCUMENTS}/copyright`,
  ]);
});

test("the package depends on what the executable needs", async () => {
  const needs = await run("readelf -dVW tree/usr/bin/datasensor");
  const packages = Array.from(
    needs.matchAll(/\(NEEDED\).*\[(.*)\]/g),
    ([, library]) => library === "libgcc_s.so.1" ? "libgcc-s1" : "libc6",
  );
  const versions = needs.match(/(?<=GLIBC_2\.)\d+/g)!.map(Number);
  const depends = (await run(`dpkg-deb -f ${NAME} Depends`)).trim();
  assertEquals(depends, `libc6 (>= 2.${Math.max(...versions)}), libgcc-s1`);
  assertEquals(new Set(packages), new Set(["libc6", "libgcc-s1"]));
});

test("lintian finds nothing in the package, and needs every override", async () => {
  // A superfluous override is only information, as are remarks on Deno's code
  const found = await run(`lintian --no-cfg --fail-on none --display-info \\
      ${NAME} 2>/dev/null | grep -E '^[EW]:|-override ' || true`);
  assertEquals(found, "");
});

test("the manual page lists the flags, and files of the package", async () => {
  const file = "tree/usr/share/man/man1/datasensor.1.gz";
  const page = (await run(`gzip -dc ${file}`)).replaceAll("\\-", "-");
  const flags = HELP.slice(HELP.indexOf("  --host"));
  assert(page.includes(`\n${flags}\n`), page);
  for (const [file] of page.matchAll(/(?<=^\.I )\/(etc|usr)\/.*/gm)) {
    await Deno.stat(`${folder}/tree${file}`);
  }
});

test("every link in the package's documents leads to one of its files or sections", async () => {
  const documents = await run(`find "$PWD/tree/${DOCUMENTS}" -name "*.md"`);
  for (const document of documents.trim().split("\n")) {
    assertEquals(await listBrokenLinks(document), []);
  }
});
