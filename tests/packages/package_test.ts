// Makes the Debian package, and looks into it. tests/board installs it.

import { assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { isTooOld } from "../../.tools/oldest_deno.ts";
import { HELP } from "../../src/command_line.ts";
import { compilerVersion, make } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { output, Process } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";

const NAME = `datasensor_${project.version}_arm64.deb`;

const folder = await Folder.create();
globalThis.addEventListener("unload", () => folder.remove());

/** Runs a shell script in the folder with the package. Throws if it fails. */
async function run(script: string): Promise<string> {
  const options = { cwd: folder.path };
  const { code, stdout, stderr } = await output("sh", ["-ec", script], options);
  if (code !== 0) throw new Error(`${script}\n${stdout}${stderr}`);
  return stdout;
}

const reason = await missingCommand("dpkg-deb") ?? await missingPackage();

/** Makes the package, and unpacks it into the folder `tree`. */
async function missingPackage(): Promise<string | undefined> {
  const { code, stderr } = await make("package", "aarch64", folder.path);
  if (code !== 0) return `cannot make a package: ${stderr}`;
  await run(`dpkg-deb -R ${NAME} tree`);
}

testUnless(reason, "the package contains these files", async () => {
  const listing = await run(`dpkg-deb -c ${NAME} |
    awk '{ print $1, $2, $6 }' | grep -v /examples/`);
  const files = listing.split("\n").filter((line) => !line.endsWith("/"));
  assertEquals(files, [
    "-rw-r--r-- root/root ./etc/default/datasensor",
    "-rwxr-xr-x root/root ./usr/bin/datasensor",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor-sensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.service",
    "-rw-r--r-- root/root ./usr/lib/systemd/system/datasensor.socket",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/changelog.gz",
    "-rw-r--r-- root/root ./usr/share/doc/datasensor/copyright",
    "-rw-r--r-- root/root ./usr/share/lintian/overrides/datasensor",
    "-rw-r--r-- root/root ./usr/share/man/man1/datasensor.1.gz",
    "",
  ]);
  const examples = "tree/usr/share/doc/datasensor/examples";
  const consumers = await Deno.realPath(".board/consumers");
  await run(`diff -r ${examples}/consumers ${consumers}`);
  const folders = await run(`dpkg-deb -c ${NAME} | grep ^d`);
  assertEquals(folders.replaceAll(/^drwxr-xr-x root\/root .*\n/gm, ""), "");
});

testUnless(reason, "the package has the version of the service", async () => {
  const version = (await run(`dpkg-deb -f ${NAME} Version`)).trim();
  const { stdout } = await output(...programCommand(["--version"]));
  assertEquals(stdout.split(" ")[1], version);
  const changelog = await run(
    "zcat tree/usr/share/doc/datasensor/changelog.gz",
  );
  assertEquals(changelog.split(" ")[1], `(${version})`);
});

testUnless(
  reason ?? await missingCommand("readelf"),
  "the package depends on what the executable needs",
  async () => {
    const needs = await run("readelf -dVW tree/usr/bin/datasensor");
    const packages = Array.from(
      needs.matchAll(/\(NEEDED\).*\[(.*)\]/g),
      ([, library]) => library === "libgcc_s.so.1" ? "libgcc-s1" : "libc6",
    );
    const versions = Array.from(
      needs.matchAll(/GLIBC_2\.(\d+)/g),
      ([, minor]) => Number(minor),
    );
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

testUnless(reason, "the manual page describes every flag", async () => {
  const page = await run("zcat tree/usr/share/man/man1/datasensor.1.gz");
  const flags = page.replaceAll("\\-", "-").match(/(?<=^.B )-.*/gm);
  assertEquals(flags, HELP.match(/(?<=^ {2})-.*?(?= {2,})/gm));
});

testUnless(
  reason,
  "package builds and reports the same package in another folder, with another umask and time zone",
  async () => {
    using copy = await Folder.ofProject();
    const files = `${copy.path}/.board`;
    await output("chmod", ["-R", "go-rx", files]);
    const env = { TZ: "Pacific/Auckland", LC_ALL: "tr_TR.UTF-8" };
    const options = { cwd: copy.path, env, umask: "077" };
    const { stdout, stderr } = await make("package", "aarch64", "a/b", options);
    const isWarned = stderr.includes("does not survive a flood");
    assertEquals(isWarned, isTooOld(await compilerVersion()), stderr);
    const sum = (await run(`sha256sum ${NAME}`)).split(" ")[0];
    const { size } = await Deno.stat(`${folder.path}/${NAME}`);
    const report = `a/b/${NAME}: ${size} bytes\nSHA-256 ${sum}\n`;
    assertEquals(stdout.replace(/Compiled with .*\n/, ""), report);
  },
);

Deno.test("package leaves no files when it is stopped", async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    using place = await Folder.create();
    const args = ["task", "-q", "package", "--output-dir", place.path];
    const options = { killGroup: true };
    await using process = new Process(Deno.execPath(), args, options);
    // Until the executable is compiled
    await process.waitFor(async () => {
      const [name] = place.names();
      if (name === undefined) return false;
      const inner = Deno.readDir(`${place.path}/${name}`);
      return (await Array.fromAsync(inner)).length > 0;
    });
    assertEquals((await process.stop(signal)).code, 1);
    assertMatch(process.stderr, new RegExp(`\nStopped by ${signal}\n$`));
    assertEquals(place.names(), []);
  }
});

Deno.test("package explains in one sentence that dpkg-deb is not installed", async () => {
  using place = await Folder.create();
  const args = ["task", "-q", "package", "--output-dir", place.path];
  const env = { PATH: place.path };
  const { code, stderr } = await output(Deno.execPath(), args, { env });
  assertEquals(code, 1);
  assertEquals(
    stderr.trim().split("\n").at(-1),
    "dpkg-deb is not installed: install it with `apt install dpkg` on Debian " +
      "or Ubuntu, or `brew install dpkg` on a Mac",
  );
  assertEquals(place.names(), []);
});

const settings = await Deno.readTextFile(
  ".board/package/etc/default/datasensor",
);

const unit = await Deno.readTextFile(
  ".board/package/usr/lib/systemd/system/datasensor-sensor.service",
);

/** The environment of a sensor, on a board whose language is German. */
const ENVIRONMENT = {
  LC_ALL: "de_DE.UTF-8",
  ...Object.fromEntries(
    Array.from(
      unit.matchAll(/^Environment=(\w+)=(.*)$/gm),
      ([, name, value]) => [name!, value!],
    ),
  ),
};

/** What the examples of sensors read here, and what is then served. */
const EXAMPLES: [example: string, here: string, reading: string][] = [
  ["/sys/class/thermal/thermal_zone0/temp", "temp", "21.5"],
  ["/sys/bus/w1/devices/28-*/temperature", "28-*", "20.25"],
  ["rtl_433 -F json", "sh radio", '{"t":1}'],
  ["/home/pi/venv/bin/python /home/pi/sensor.py", "python3 -u sensor.py", "7"],
];

for (const [example, here, reading] of EXAMPLES) {
  const name = `the example with ${example} feeds the service`;
  testUnless(await missingCommand("python3"), name, async () => {
    const [, flags] = settings.match(/^#FLAGS=(.*)$/m)!;
    const sensor = Array.from(
      settings.matchAll(/^#SENSOR=(.*)$/gm),
      ([, command]) => command!,
    ).find((command) => command.includes(example))!;
    using place = await Folder.create();
    const files = {
      temp: "21500\n",
      "28-000": "20250\n",
      radio: `echo '{"t":1}'; sleep 60`,
      "sensor.py": "import time\nwhile True:\n  print(7)\n  time.sleep(1)\n",
    };
    for (const [file, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${place.path}/${file}`, text);
    }
    const [command, args] = programCommand(["--port", "0"]);
    const script = '(cd "$0"; exec sh -c "$1") | { shift; exec "$@"; }';
    const run = [sensor.replace(example, here), command, ...args];
    await using program = new Program(
      "sh",
      ["-c", script, place.path, ...run, ...flags!.split(" ")],
      { killGroup: true, env: ENVIRONMENT },
    );
    await program.waitUntilListening();
    await program.waitForAnswer(reading);
  });
}

Deno.test("a test runs every example in the settings", () => {
  assertEquals(settings.match(/^#SENSOR=/gm)!.length, EXAMPLES.length);
});
