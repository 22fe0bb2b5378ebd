// Makes the Debian package, and looks into it: tests/board installs it. And makes the
// executable for ARM, which Debian's qemu-user-static runs on a PC.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { COMPUTE_LIMIT_MS, make, testCompiling } from "../helpers/build.ts";
import { listBrokenLinks } from "../helpers/documents.ts";
import { shell } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";

const DOCUMENTS = "usr/share/doc/datasensor";
const PACKAGE = "datasensor_amd64.deb";
const ARM_LIBRARIES = "/usr/aarch64-linux-gnu"; // Debian's libc6-arm64-cross has them

/** Its files, each after its mode; all are root's. */
const FILES = `
-rw-r--r-- etc/default/datasensor
-rwxr-xr-x usr/bin/datasensor
-rwxr-xr-x usr/lib/datasensor/ds18b20
-rwxr-xr-x usr/lib/datasensor/mqtt
-rwxr-xr-x usr/lib/datasensor/receive
-rw-r--r-- usr/lib/systemd/system/datasensor-sensor.service
-rw-r--r-- usr/lib/systemd/system/datasensor.service
-rw-r--r-- usr/lib/sysusers.d/datasensor.conf
-rw-r--r-- usr/lib/tmpfiles.d/datasensor.conf
-rw-r--r-- usr/share/datasensor/datasensor_rules.yml
-rw-r--r-- usr/share/datasensor/device.ino
-rw-r--r-- usr/share/datasensor/device.py
-rw-r--r-- usr/share/datasensor/examples.conf
-rwxr-xr-x usr/share/datasensor/messages.py
-rw-r--r-- usr/share/datasensor/nginx.conf
-rwxr-xr-x usr/share/datasensor/sensors.sh
-rw-r--r-- usr/share/doc/datasensor/.github/CONTRIBUTING.md
-rw-r--r-- usr/share/doc/datasensor/.github/SECURITY.md
-rw-r--r-- usr/share/doc/datasensor/README.md
-rw-r--r-- usr/share/doc/datasensor/changelog.gz
-rw-r--r-- usr/share/doc/datasensor/copyright
-rw-r--r-- usr/share/doc/datasensor/src/board/README.md
-rw-r--r-- usr/share/doc/datasensor/src/readers/README.md
-rw-r--r-- usr/share/doc/datasensor/src/readers/page.png
-rw-r--r-- usr/share/lintian/overrides/datasensor
-rw-r--r-- usr/share/man/man1/datasensor.1.gz
lrwxrwxrwx usr/share/doc/datasensor/src/board/device.ino -> ../../../../datasensor/device.ino
lrwxrwxrwx usr/share/doc/datasensor/src/board/device.py -> ../../../../datasensor/device.py
lrwxrwxrwx usr/share/doc/datasensor/src/board/examples.conf -> ../../../../datasensor/examples.conf
lrwxrwxrwx usr/share/doc/datasensor/src/board/sensors.sh -> ../../../../datasensor/sensors.sh
lrwxrwxrwx usr/share/doc/datasensor/src/readers/datasensor_rules.yml -> ../../../../datasensor/datasensor_rules.yml
lrwxrwxrwx usr/share/doc/datasensor/src/readers/messages.py -> ../../../../datasensor/messages.py
lrwxrwxrwx usr/share/doc/datasensor/src/readers/nginx.conf -> ../../../../datasensor/nginx.conf
`;

const testPackage = await testCompiling("dpkg-deb", "git", "lintian");
const testExecutable = await testCompiling(
  "git",
  "qemu-aarch64-static",
  `${ARM_LIBRARIES}/lib/libc.so.6`,
  `${ARM_LIBRARIES}/lib/libgcc_s.so.1`,
);

testPackage("the package has what a board needs, and no more", async (test) => {
  using project = await make("package", "x86_64");
  const options = { cwd: `${project.path}/dist` };
  const run = (script: string) =>
    shell(`package=$0\n${script}`, [PACKAGE], options, COMPUTE_LIMIT_MS);
  await run("dpkg-deb -R $package tree");

  await test.step("its files", async () => {
    const files = await run(`dpkg-deb -c $package | grep -v ^d |
      sed -E 's|root/root +[0-9]+ [^ ]+ [^ ]+ \\./||'`); // the size and the time
    assertEquals(files.trim(), FILES.trim());
  });

  await test.step("its version, which is that of the executable and its changelog", async () => {
    const version = (await run("dpkg-deb -f $package Version")).trim();
    assertMatch(version, /^\d+\.\d+\.\d+\+202611221629\d\d\.[0-9a-f]{7}$/);
    assertEquals(
      await run("readlink $package"),
      `datasensor_${version}_amd64.deb\n`,
    );
    // In deno.json, which it contains
    await run(`grep -aqF '"version": "${version}"' tree/usr/bin/datasensor`);
    const [release] = version.split("+");
    await run(
      `gzip -dc tree/${DOCUMENTS}/changelog.gz | grep -qF "(${release})"`,
    );
  });

  await test.step("nothing for lintian, and no needless override", async () => {
    // A superfluous override is only information, as are remarks on Deno's code
    const found = await run(`lintian --no-cfg --fail-on none --display-info \\
      $package 2>/dev/null | grep -E '^[EW]:|-override ' || true`);
    assertEquals(found, "");
  });

  await test.step("a manual page with the flags, and files of the package", async () => {
    const manual = "tree/usr/share/man/man1/datasensor.1.gz";
    const page = (await run(`gzip -dc ${manual}`)).replaceAll("\\-", "-");
    const flags = HELP.slice(HELP.indexOf("  --host"));
    assert(page.includes(`\n${flags}\n`), page);
    for (const [file] of page.matchAll(/(?<=^\.I )\/(etc|usr)\/.*/gm)) {
      await run(`ls tree${file}`);
    }
  });

  await test.step("documents whose links lead to its files and sections", async () => {
    const documents = await run(`find "$PWD/tree/${DOCUMENTS}" -name "*.md"`);
    for (const document of documents.trim().split("\n")) {
      assertEquals(await listBrokenLinks(document), []);
    }
  });
});

testExecutable(
  "the executable for ARM serves a reading in an emulator, and stops",
  async () => {
    using project = await make("compile", "aarch64");
    const executable = `${project.path}/dist/datasensor-aarch64`;
    const flags = ["--port", "0", "--host", "127.0.0.1", "--stdin", "--json"];
    const args = ["-L", ARM_LIBRARIES, executable, ...flags];
    await using program = new Program("qemu-aarch64-static", args);
    await program.waitUntilListening(COMPUTE_LIMIT_MS);
    const reading = '{"temperature_C":21.5}';
    await program.write(`${reading}\n`);
    await program.waitForAnswer(reading, COMPUTE_LIMIT_MS);
    program.kill("SIGINT");
    assertEquals((await program.waitForEnd(COMPUTE_LIMIT_MS)).code, 0);
  },
);
