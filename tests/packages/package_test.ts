// Makes the Debian package, and looks into it. tests/board installs it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { isOlder } from "../../.tools/oldest_deno.ts";
import { HELP } from "../../src/process/command_line.ts";
import {
  compilerVersion,
  make,
  makeFromCommit,
  OLDEST_DENO,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { listBrokenLinks, readme } from "../helpers/guide.ts";
import { missingCommand, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";

const DOCUMENTS = "usr/share/doc/datasensor";
const MANUAL = "usr/share/man/man1/datasensor.1.gz";
const NAME = "datasensor_arm64.deb";

const clone = await Folder.ofProject();
globalThis.addEventListener("unload", () => clone.remove());
await Deno.writeTextFile(`${clone.path}/src/board/package/etc/default/x~`, "");
await Deno.writeTextFile(`${clone.path}/src/board/examples/x~`, "");
const folder = `${clone.path}/dist`;

const reason = missingCommand("dpkg-deb", "git") ??
  await makeFromCommit("package", "aarch64", clone);
const NEEDED = needs({ missing: [reason] });
let version = "";
if (!reason) {
  version = (await run("echo datasensor_*_arm64.deb")).split("_")[1]!;
  await run(`dpkg-deb -R ${NAME} tree`);
}

/** Runs a shell script in the folder with the package. Throws if it fails. */
async function run(script: string): Promise<string> {
  const options = { cwd: folder };
  const { code, stdout, stderr } = await output("sh", ["-ec", script], options);
  if (code !== 0) throw new Error(`${script}\n${stdout}${stderr}`);
  return stdout;
}

Deno.test("the package contains these files", NEEDED, async () => {
  const files = await run(`dpkg-deb -c ${NAME} |
    grep -v -e ^d -e /consumers/ | awk '{ print $1, $2, $6 }'`);
  assertEquals(files.split("\n"), [
    "-rw-r--r-- root/root ./etc/default/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor-doctor",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/board",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/delay-restart",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/ds18b20",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/iio",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/latest",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/merge",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/run-sensor",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor-sensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.socket",
    "-rw-r--r-- root/root ./usr/lib/sysusers.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/changelog.gz",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/copyright",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/examples/avahi.service",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/guide.md",
    "-rw-r--r-- root/root ./usr/share/lintian/overrides/datasensor",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor-doctor.1.gz",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor.1.gz",
    "",
  ]);
  const consumers = await Deno.realPath("src/board/examples");
  const examples = `tree/${DOCUMENTS}/examples`;
  await run(`diff -r -x README.md ${examples} ${consumers}`);
});

Deno.test("the package has the version of the executable", NEEDED, async () => {
  assertMatch(version, /^\d+\.\d+\.\d+\+202611221629\d\d\.[0-9a-f]{7}$/);
  assertEquals(await run(`dpkg-deb -f ${NAME} Version`), `${version}\n`);
  const changelog = await run(`zcat tree/${DOCUMENTS}/changelog.gz`);
  assertEquals(changelog.split(" ")[1], `(${version})`);
  // In deno.json, which it contains
  await run(`grep -aqF '"version":"${version}"' tree/usr/bin/datasensor`);
});

Deno.test(
  "the package depends on what the executable needs",
  needs({ commands: ["readelf"], missing: [reason] }),
  async () => {
    const needs = await run("readelf -dVW tree/usr/bin/datasensor");
    const packages = Array.from(
      needs.matchAll(/\(NEEDED\).*\[(.*)\]/g),
      ([, library]) => library === "libgcc_s.so.1" ? "libgcc-s1" : "libc6",
    );
    const versions = needs.match(/(?<=GLIBC_2\.)\d+/g)!.map(Number);
    const depends = (await run(`dpkg-deb -f ${NAME} Depends`)).trim();
    assertEquals(depends, `libc6 (>= 2.${Math.max(...versions)}), libgcc-s1`);
    assertEquals(new Set(packages), new Set(["libc6", "libgcc-s1"]));
  },
);

Deno.test(
  "lintian finds nothing in the package, and needs every override",
  needs({ commands: ["lintian"], missing: [reason] }),
  async () => {
    // A superfluous override is only information, as are remarks on Deno's code
    const found = await run(`lintian --no-cfg --fail-on none --display-info \\
      ${NAME} 2>/dev/null | grep -E '^[EW]:|-override ' || true`);
    assertEquals(found, "");
  },
);

Deno.test(
  "the manual page describes every flag, names the package's files, and has README's example",
  NEEDED,
  async () => {
    const roff = await run(`zcat tree/${MANUAL}`);
    const page = roff.replaceAll("\\-", "-").replaceAll("\\(aq", "'");
    const flags = page.match(/(?<=^.B )-.*/gm);
    assertEquals(flags, HELP.match(/(?<=^ {2})-.*?(?= {2,})/gm));
    const files = page.match(/(?<=^\.I )\/(etc|usr)\/.*/gm)!;
    await run(`ls ${files.map((file) => `tree${file}`).join(" ")}`);
    const example = readme.block("thermal_zone0");
    assert(
      page.includes(example.replace("deno task start", "datasensor")),
      page,
    );
    const [title] = page.split("\n");
    assertEquals(title, '.TH DATASENSOR 1 2026-11-22 "datasensor 1.0.0"');
  },
);

Deno.test(
  "every link in the package's documents leads to one of its files or sections",
  needs({ missing: [reason] }),
  async () => {
    const documents = `${folder}/tree/${DOCUMENTS}`;
    const find = `cd tree/${DOCUMENTS}; grep -rlE '\\]\\(|href=|src=' . | sort`;
    const names = (await run(find)).trim().split("\n");
    const consumers = "./examples/README.md";
    assertEquals(names, ["./README.md", consumers, "./guide.md"]);
    for (const document of names) {
      assertEquals(await listBrokenLinks(`${documents}/${document}`), []);
    }
  },
);

/** Variables that could change what the tools make. */
const VARIABLES = {
  OTEL_DENO: "true",
  DENO_COMPAT: "1",
  DENO_UNSTABLE_SLOPPY_IMPORTS: "1",
  DPKG_DEB_COMPRESSOR_LEVEL: "1",
  TZ: "Pacific/Auckland",
  LC_ALL: "tr_TR.UTF-8",
};

/** Stands in for dpkg-deb, which compresses for a minute: does not compress. */
const STAND_IN = `#!/bin/sh
PATH=$REAL_PATH
if [ "$1" = -Zxz ]; then
  [ -z "$DPKG_DEB_COMPRESSOR_LEVEL" ] || exit 1
  shift
  set -- -Znone "$@"
fi
exec dpkg-deb "$@"
`;

/** Returns the checksums of the two archives in a package. */
async function sumParts(file: string): Promise<string> {
  const script = `for part in ctrl fsys; do
      dpkg-deb --$part-tarfile "$0" | sha256sum
    done`;
  return (await output("sh", ["-c", script, file])).stdout;
}

Deno.test(
  "package builds and reports the same in a clone with other dates and modes, whose name a shell would run in part",
  NEEDED,
  async () => {
    using place = await Folder.create();
    using cache = await Folder.ofCache();
    // Gives the current date to the fallback's package, if it is cached
    const touch = "tar cf npm.tar npm/*/deno-std && rm npm && tar xmf npm.tar";
    await output("sh", ["-c", touch], { cwd: cache.path });
    const cwd = `${place.path}/it's "a" $(touch x) \`touch x\` #%41?`;
    const script = 'umask 077; git clone -q "$0" "$1"';
    await output("sh", ["-c", script, clone.path, cwd]);
    using tools = await Folder.create();
    await Deno.writeTextFile(`${tools.path}/dpkg-deb`, STAND_IN, {
      mode: 0o755,
    });
    const path = Deno.env.get("PATH");
    const env = {
      ...VARIABLES,
      DENO_DIR: cache.path,
      REAL_PATH: path!,
      PATH: `${tools.path}:${path}`,
    };
    const options = { cwd, env, umask: "077" };
    const made = await make("package", "aarch64", "a/b", options);
    const status = await output("git", ["status", "--porcelain"], { cwd });
    assertEquals(status.stdout, "?? a/\n"); // and no x
    const isWarned = made.stderr.includes("may not survive a flood");
    const isOld = isOlder(await compilerVersion(), OLDEST_DENO);
    assertEquals(isWarned, isOld, made.stderr);
    const name = `datasensor_${version}_arm64.deb`;
    const file = `${cwd}/a/b/${name}`;
    assertEquals(await sumParts(file), await sumParts(`${folder}/${NAME}`));
    const { stdout } = await output("sha256sum", ["-z", file]);
    const [sum] = stdout.split(" ");
    const { size } = await Deno.stat(file);
    assertEquals(
      made.stdout.replace(/Compiled with .*\n/, ""),
      `a/b/${name}: ${size} bytes
SHA-256 ${sum}
To install it: scp a/b/${name} BOARD: && ssh -t BOARD sudo apt install ./${name}
`,
    );
  },
);
