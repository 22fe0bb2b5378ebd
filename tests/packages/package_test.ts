// Makes the Debian package, and looks into it and its sources. tests/board installs
// it, and runs its units and the examples of sensors.

import { assertEquals, assertMatch } from "@std/assert";
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { HELP } from "../../src/process/command_line.ts";
import {
  compilerVersion,
  makeFromCommit,
  makeInClone,
} from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { output, Process } from "../helpers/process.ts";

const TREE = ".board/package";
const DOCUMENTS = "usr/share/doc/datasensor";
const NAME = "datasensor_arm64.deb";

const clone = await Folder.ofProject();
globalThis.addEventListener("unload", () => clone.remove());
const folder = `${clone.path}/dist`;

const reason = await missingCommand("dpkg-deb", "git") ??
  await makeFromCommit("package", "aarch64", clone);
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

testUnless(reason, "the package contains these files", async () => {
  const files = await run(`dpkg-deb -c ${NAME} |
    grep -v -e ^d -e /consumers/ | awk '{ print $1, $2, $6 }'`);
  assertEquals(files.split("\n"), [
    "-rw-r--r-- root/root ./etc/default/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor-sensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.socket",
    "-rw-r--r-- root/root ./usr/lib/sysusers.d/datasensor.conf",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/README.md",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/changelog.gz",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/copyright",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/examples/avahi.service",
    "-rw-r--r-- root/root ./usr/share/lintian/overrides/datasensor",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor.1.gz",
    "",
  ]);
  const consumers = await Deno.realPath(".board/consumers");
  await run(`diff -r tree/${DOCUMENTS}/examples/consumers ${consumers}`);
});

testUnless(
  reason,
  "the package has the version of the executable",
  async () => {
    assertMatch(version, /^\d+\.\d+\.\d+\+202611221629\d\d\.[0-9a-f]{7}$/);
    assertEquals(await run(`dpkg-deb -f ${NAME} Version`), `${version}\n`);
    const changelog = await run(`zcat tree/${DOCUMENTS}/changelog.gz`);
    assertEquals(changelog.split(" ")[1], `(${version})`);
    // In deno.json, which it contains
    await run(`grep -aqF '"version":"${version}"' tree/usr/bin/datasensor`);
  },
);

testUnless(
  reason ?? await missingCommand("readelf"),
  "the package depends on what the executable needs",
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

testUnless(
  reason ?? await missingCommand("lintian"),
  "lintian finds nothing in the package, and needs every override",
  async () => {
    // A superfluous override is only information, as are remarks on Deno's code
    const found = await run(`lintian --no-cfg --fail-on none --display-info \\
      ${NAME} 2>/dev/null | grep -E '^[EW]:|-override ' || true`);
    assertEquals(found, "");
  },
);

testUnless(
  reason,
  "the manual page describes every flag, and names the package's files",
  async () => {
    const page = await run("zcat tree/usr/share/man/man1/datasensor.1.gz");
    const flags = page.replaceAll("\\-", "-").match(/(?<=^.B )-.*/gm);
    assertEquals(flags, HELP.match(/(?<=^ {2})-.*?(?= {2,})/gm));
    const files = page.match(/(?<=^\.I )\/(etc|usr)\/.*/gm)!;
    await run(`ls ${files.map((file) => `tree${file}`).join(" ")}`);
    await run(
      `diff tree${files[1]} ${await Deno.realPath(".board/README.md")}`,
    );
  },
);

testUnless(
  reason,
  "package builds and reports the same package in another clone",
  async () => {
    using place = await Folder.create();
    const made = await makeInClone("package", "aarch64", clone, place);
    const { stdout, stderr } = made;
    const isWarned = stderr.includes("does not survive a flood");
    assertEquals(isWarned, isTooOld(await compilerVersion()), stderr);
    const sum = (await run(`sha256sum ${NAME}`)).split(" ")[0];
    const { size } = await Deno.stat(`${folder}/${NAME}`);
    const name = `datasensor_${version}_arm64.deb`;
    assertEquals(
      stdout.replace(/Compiled with .*\n/, ""),
      `a/b/${name}: ${size} bytes
SHA-256 ${sum}
To install it: scp a/b/${name} BOARD: && ssh -t BOARD sudo apt install ./${name}
`,
    );
  },
);

/** Stand in for commands of the examples; rtl_433 hears two transmitters. */
const FAKES = `sleep() { command sleep infinity; }
awk() { echo 21500 | command awk "$1"; }
rtl_433() {
  echo '{"time" : "2026-11-22 19:00:00", "id" : 42, "C" : 1.5}'
  printf '%s\n' junk 5 [] '{"time" : "2026'
  echo '{"time" : "2026-11-22 19:00:01", "id" : 7, "C" : -3}'
  sleep
}
kitchen() { printf '%s\n' '{"kitchen": 20}' Bye; sleep; }
attic() { echo '{"attic": 15}'; sleep; }`;

/** How many lines each example then prints, and the last one. */
const PRINTED = [
  [1, 21.5],
  [1, 21.5],
  [6, { time: "2026-11-22 19:00:01", id: 7, C: -3 }],
  [2, {
    42: { time: "now", id: 42, C: 1.5 },
    7: { time: "now", id: 7, C: -3 },
  }],
  [1, { time: "2026-11-22 19:00:00", id: 42, C: 1.5 }],
  [2, { kitchen: 20, attic: 15 }],
  [1, 7],
];

testUnless(
  await missingCommand("jq"),
  "the examples of sensors print each reading at once, skip junk, and end when reading fails, on a board whose language is German too",
  async () => {
    const settings = await Deno.readTextFile(`${TREE}/etc/default/datasensor`);
    const unit = await Deno.readTextFile(
      `${TREE}/usr/lib/systemd/system/datasensor-sensor.service`,
    );
    const variables = unit.match(/(?<=^Environment=).*$/gm)!.join(" ");
    const env = { LC_ALL: "de_DE.UTF-8" };
    const sensors = settings.match(/(?<=^#SENSOR=).*$/gm)!;
    assertEquals(sensors.length, PRINTED.length);
    for (const [index, [count, last]] of PRINTED.entries()) {
      const sensor = sensors[index]!.replace(/^\/home\S+/, "echo 7 #");
      const script = `export ${variables}\n${FAKES}\n${sensor}`;
      const options = { env, killGroup: true };
      await using process = new Process("sh", ["-c", script], options);
      const lines = () => process.stdout.split("\n").slice(0, -1);
      await process.waitFor(() => lines().length === count);
      const now = lines().at(-1)!.replace(/20[^"]*T[^"]*Z/g, "now");
      assertEquals(JSON.parse(now), last);
      if (!sensor.startsWith("while")) continue;
      const failing = `awk() { false; }; sleep() { :; }; ${sensor}`;
      assertEquals((await output("sh", ["-c", failing], {}, 9_000)).stdout, "");
    }
  },
);

testUnless(
  await missingCommand("systemd-analyze", "systemd-sysusers"),
  "the package's systemd units are valid and hardened, and it creates their groups",
  async () => {
    const script = `cp ${TREE}/usr/lib/systemd/system/* "$0"
      cd "$0"
      # systemd checks that the program exists
      sed -i "s|/usr/bin/datasensor |/bin/true |" datasensor.service
      systemd-analyze verify --man=no ./datasensor*
      check() { systemd-analyze security --offline=true --no-pager "$@"; }
      check --threshold=15 ./datasensor.service
      check --threshold=35 ./datasensor-sensor.service
      mkdir etc
      cp "$OLDPWD"/${TREE}/usr/lib/sysusers.d/* .
      systemd-sysusers --root=. "$PWD/datasensor.conf" 2>created
      for group in $(sed -n 's/^SupplementaryGroups=//p' *.service); do
        grep "^$group:" etc/group
      done`;
    using units = await Folder.create();
    const args = ["-ec", script, units.path];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stderr], [0, ""], stdout);
  },
);
