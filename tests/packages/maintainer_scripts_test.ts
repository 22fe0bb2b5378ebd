// The scripts that dpkg runs when the package is installed, updated or removed, with
// programs that stand in for systemd's. tests/board installs, updates, disables, removes and
// purges the package, and shows what the units do then.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

const FAKE = `#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
exit "$STATUS"
`;
const COMMANDS = [
  "deb-systemd-helper",
  "deb-systemd-invoke",
  "groupadd",
  "systemctl",
];

/** Runs a script as dpkg does. Returns what it printed and which commands it ran. */
async function runScript(
  call: string,
  { hasSystemd = true, hasSysusers = true, status = 0, env = {} } = {},
) {
  using folder = await Folder.create();
  const [name, ...args] = call.split(" ");
  const commands = hasSysusers ? [...COMMANDS, "systemd-sysusers"] : COMMANDS;
  for (const command of commands) {
    const file = `${folder.path}/${command}`;
    await Deno.writeTextFile(file, FAKE, { mode: 0o755 });
  }
  const script = await Deno.readTextFile(`src/board/package/DEBIAN/${name}`);
  const running = hasSystemd ? folder.path : `${folder.path}/none`;
  const here = script.replaceAll("/run/systemd/system", running)
    // As if this machine did not have it
    .replace("command -v systemd", `command -v ${folder.path}/systemd`);
  const CALLS = `${folder.path}/calls`;
  await Deno.writeTextFile(CALLS, "");
  const { code, stdout, stderr } = await output("sh", [
    "-c",
    `PATH=${folder.path}:$PATH; ${here}`,
    name!,
    ...args,
  ], { env: { CALLS, STATUS: `${status}`, ...env } });
  const calls = (await Deno.readTextFile(CALLS)).trimEnd().split("\n");
  return { code, printed: stdout + stderr, calls };
}

const UNITS = ["datasensor.service", "datasensor-sensor.service"];
const ENABLE = UNITS.flatMap((unit) => [
  `deb-systemd-helper --quiet was-enabled ${unit}`,
  `deb-systemd-helper enable ${unit}`,
]);
const GROUPS = "systemd-sysusers datasensor.conf";
const NOTHING = [""];

/** How dpkg calls the scripts. */
const CALLS = [
  "postinst configure",
  "postinst configure 1.0.0",
  "postinst triggered",
  "prerm upgrade 1.0.1",
  "prerm remove",
  "postrm upgrade 1.0.1",
  "postrm remove",
  "postrm purge",
];

for (const call of CALLS) {
  Deno.test(`${call} succeeds, although each command fails`, async () => {
    const { code, printed } = await runScript(call, { status: 1 });
    assertEquals([code, printed], [0, ""]);
  });
}

Deno.test(
  "without systemd, postinst says that the service is not started",
  async () => {
    const { code, printed, calls } = await runScript("postinst configure", {
      hasSystemd: false,
    });
    assertEquals([code, calls], [0, [...ENABLE, GROUPS]]); // as in a chroot
    assertEquals(
      printed,
      "datasensor is not started: it needs systemd, which is not running here\n",
    );
  },
);

Deno.test(
  "the scripts leave this machine's units alone while they change another root",
  async () => {
    const env = { DPKG_ROOT: "/mnt" };
    for (const call of ["prerm remove", "postrm remove"]) {
      assertEquals((await runScript(call, { env })).calls, NOTHING);
    }
    assertEquals(
      (await runScript("postinst configure", { env })).calls,
      [...ENABLE, "systemd-sysusers --root=/mnt datasensor.conf"],
    );
  },
);

Deno.test(
  "where an image lacks systemd, postinst creates the groups of the sensor's unit",
  async () => {
    const env = { DPKG_ROOT: await Deno.realPath("src/board/package") };
    const { calls } = await runScript("postinst configure", {
      hasSysusers: false,
      env,
    });
    const unit = await Deno.readTextFile(
      "src/board/package/usr/lib/systemd/system/datasensor-sensor.service",
    );
    const groups = unit.match(/(?<=^SupplementaryGroups=).*$/m)![0].split(" ");
    const create = `groupadd --system --force --prefix ${env.DPKG_ROOT}`;
    assertEquals(calls, [
      ...ENABLE,
      ...groups.map((group) => `${create} ${group}`),
    ]);
  },
);
