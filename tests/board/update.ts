// Checks what the guide says about updates and removal. The other versions of the
// package differ in their number, and in a comment in the settings.

import { assertEquals, assertMatch } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { output } from "../helpers/process.ts";
import type { Board } from "./board.ts";
import {
  type Checks,
  configure,
  guide,
  property,
  waitForState,
} from "./operations.ts";

/** The version in the guide. */
const VERSION = project.version;

/** The versions to which a board is updated. */
export const NEWER_VERSIONS = [`${VERSION}+1`, `${VERSION}+2`] as const;

/** Makes a newer version of a package, in the same folder. */
export async function makeNewerVersion(
  folder: string,
  version: string,
): Promise<void> {
  const script = `work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
dpkg-deb -R datasensor_${VERSION}_arm64.deb "$work"
sed -i 's/^Version: .*/Version: ${version}/' "$work/DEBIAN/control"
echo '# A new comment' >>"$work/etc/default/datasensor"
dpkg-deb -Zgzip -z1 --root-owner-group -b "$work" datasensor_${version}_arm64.deb`;
  const { code, stderr } = await output("sh", ["-ec", script], { cwd: folder });
  if (code !== 0) throw new Error(stderr);
}

/** Installs a version with the guide's loop, for this board only. */
async function install(board: Board, version: string): Promise<void> {
  const loop = guide.block("for board in");
  const printed = await board.runOnOperator(
    loop.replaceAll("BOARD1 BOARD2", "BOARD").replaceAll(VERSION, version),
  );
  assertMatch(printed, /^BOARD: datasensor \S+ \(Deno .*, aarch64\)$/m);
  assertEquals(await installedVersion(board), version);
}

function installedVersion(board: Board): Promise<string> {
  return board.read("dpkg-query -f '${Version}' -W datasensor");
}

/** Settings with which the service serves a sensor. */
const SETTINGS = [
  "FLAGS=--stdin --json --max-age 15",
  "SENSOR=while sleep 1; do echo 5.5; done",
];

/** The checks of the guide's section "Updates and many boards". */
export const UPDATE: Checks = {
  async "an update keeps the settings, and restarts the service and the sensor"(
    board,
  ) {
    await configure(board, ...SETTINGS);
    await board.waitForAnswer("200 5.5");
    const before = await property(board, "MainPID");
    await install(board, NEWER_VERSIONS[0]);
    await waitForState(board, "active");
    await board.waitForAnswer("200 5.5");
    const pid = await property(board, "MainPID");
    assertEquals(pid === before, false);
    const running = await board.read(`sudo stat -Lc %i /proc/${pid}/exe`);
    assertEquals(running, await board.read("stat -c %i /usr/bin/datasensor"));
  },

  async "after systemctl disable, an update starts nothing, nor does a reboot"(
    board,
  ) {
    await board.run("sudo systemctl disable --now datasensor");
    await install(board, NEWER_VERSIONS[1]);
    assertEquals(await property(board, "UnitFileState"), "disabled");
    await waitForState(board, "inactive");
    await board.reboot();
    await waitForState(board, "inactive");
    await board.run("sudo systemctl enable --now datasensor");
    await board.waitForAnswer("200 5.5");
  },

  async "the guide's commands go back to an older version"(board) {
    await install(board, VERSION);
    await board.waitForAnswer("200 5.5");
  },
};

/** The checks that come last. */
export const REMOVAL: Checks = {
  async "a removal keeps the settings"(board) {
    await configure(board, ...SETTINGS);
    await board.run(guide.line("apt-get purge").replace("purge", "remove -y"));
    assertEquals(await board.answer(), "no answer");
    await board.run(
      "grep 5.5 /etc/default/datasensor; ! systemctl cat datasensor",
    );
    await board.runOnOperator(
      `ssh -t BOARD sudo apt-get install ./datasensor_${VERSION}_arm64.deb`,
    );
    await board.waitForAnswer("200 5.5");
  },

  async "a purge leaves nothing"(board) {
    await board.run(guide.line("apt-get purge").replace("purge", "purge -y"));
    assertEquals(await board.answer(), "no answer");
    // Not the operator's files: downloads, drop-ins and the guide's port setting
    const find = "sudo find / -xdev -name '*datasensor*' ! -path '/home/*' " +
      "! -path '/var/log/*' ! -name 80-datasensor.conf";
    assertEquals(await board.read(find), "");
    await board.run("test ! -e /run/datasensor");
  },

  async "the guide's commands install the files without apt, and update them"(
    board,
  ) {
    const commands = guide.block("--fsys-tarfile");
    await board.runOnOperator(commands);
    await board.waitForAnswer('200 "Sensor data"');
    await configure(board, ...SETTINGS);
    const [exclude] = (await Deno.readTextFile(".board/README.md"))
      .match(/(?<=`)--exclude [^`]+/)!;
    await board.runOnOperator(
      commands.replace("tar -xf", `tar ${exclude} -xf`),
    );
    await board.reboot();
    await board.waitForAnswer("200 5.5");
  },
};
