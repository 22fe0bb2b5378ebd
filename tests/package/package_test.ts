// Makes the Debian package, and looks into it. tests/board installs it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import {
  COMPUTE_LIMIT_MS,
  make,
  makeFromCommit,
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
await Deno.writeTextFile(`${clone.path}/src/readers/x~`, "");
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

Deno.test("the package contains these files", NEEDED, async () => {
  const files = await run(`dpkg-deb -c ${NAME} |
    grep -v -e ^d -e /examples/ | awk '{ print $1, $2, $6 }'`);
  assertEquals(files.split("\n"), [
    "-rw-r--r-- root/root ./etc/default/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/ds18b20",
    "-rwxr-xr-x root/root ./usr/lib/datasensor/iio",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor-sensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.service",
    "-rw-r--r-- root/root ./usr/lib/sysusers.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/lib/tmpfiles.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/changelog.gz",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/copyright",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/guide.md",
    "-rw-r--r-- root/root ./usr/share/lintian/overrides/datasensor",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor.1.gz",
    "",
  ]);
  const examples = await Deno.realPath("src/readers");
  const differ = "diff -r -x README.md -x graph.png";
  await run(`${differ} tree/${DOCUMENTS}/examples ${examples}`);
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
    const example = readme.block("/proc/loadavg");
    assert(
      page.includes(example.replace("deno task start", "datasensor")),
      page,
    );
    const [title] = page.split("\n");
    assertEquals(title, '.TH DATASENSOR 1 2026-11-25 "datasensor 1.0.0"');
  },
);

Deno.test(
  "every link in the package's documents leads to one of its files or sections",
  needs({ missing: [reason] }),
  async () => {
    const documents = `${folder}/tree/${DOCUMENTS}`;
    const find = `cd tree/${DOCUMENTS}; grep -rlE '\\]\\(|href=|src=' . | sort`;
    const names = (await run(find)).trim().split("\n");
    assertEquals(names, [
      "./README.md",
      "./examples/README.md",
      "./guide.md",
    ]);
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

Deno.test(
  "another clone, with other dates, modes and settings, gives the same package",
  NEEDED,
  async () => {
    using place = await Folder.create();
    using cache = await Folder.ofCache();
    // Gives the current date to the fallback's package, if it is cached
    const touch = "tar cf npm.tar npm/*/deno-std && rm npm && tar xmf npm.tar";
    await output("sh", ["-c", touch], { cwd: cache.path });
    const cwd = `${place.path}/clone`;
    const script = 'umask 077; git clone -q "$0" "$1"';
    await output("sh", ["-c", script, clone.path, cwd]);
    const env = { ...VARIABLES, DENO_DIR: cache.path };
    const options = { cwd, env, umask: "077" };
    const made = await make("package", "aarch64", "dist", options);
    const name = `datasensor_${version}_arm64.deb`;
    const first = await Deno.readFile(`${folder}/${name}`);
    const second = await Deno.readFile(`${cwd}/dist/${name}`);
    assert(
      first.length === second.length &&
        first.every((it, i) => it === second[i]),
    );
    const digest = await crypto.subtle.digest("SHA-256", second);
    const sum = new Uint8Array(digest).toHex();
    assertEquals(
      made.stdout.replace(/Compiled with .*\n/, ""),
      `dist/${name}: ${second.length} bytes
SHA-256 ${sum}
To install it: scp dist/${name} BOARD: && ssh -t BOARD sudo apt install ./${name}
`,
    );
  },
);
