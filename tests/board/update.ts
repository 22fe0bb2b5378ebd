// Checks what the guide says about updates and removal.

import { assertEquals, assertMatch } from "@std/assert";
import { make } from "../helpers/executable.ts";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";
import type { Board } from "./board.ts";
import {
  type Checks,
  configure,
  property,
  restoreSettings,
  waitForState,
} from "./operations.ts";

/** The fixed name of the package that was made last. */
const LATEST = "dist/datasensor_arm64.deb";

/** The commands that install the packages, as `deno task package` prints them. */
export const commands = { older: "", newer: "" };

/**
 * Makes the packages of a commit and of a later one, which changes a comment in the
 * settings. The older one is made last.
 *
 * @returns The reason if it fails.
 */
export async function makePackages(into: string): Promise<string | undefined> {
  using clone = await Folder.ofProject();
  const { path } = clone;
  const commits = {
    older: await clone.commit("2026-11-22T16:29:00Z"),
    newer: "",
  };
  const settings = `${path}/.board/package/etc/default/datasensor`;
  await Deno.writeTextFile(settings, "# A new comment\n", { append: true });
  commits.newer = await clone.commit("2026-11-22T16:30:00Z");
  for (const age of ["newer", "older"] as const) {
    await output("git", ["checkout", "-q", commits[age]], { cwd: path });
    const options = { cwd: path };
    const { code, stdout, stderr } = await make(
      "package",
      "aarch64",
      into,
      options,
    );
    if (code !== 0) {
      return `cannot package: ${stderr.trim().split("\n").at(-1)}`;
    }
    commands[age] = stdout.match(/(?<=^To install it: ).*/m)![0];
  }
}

/** Returns which of the packages the board has. */
export async function installed(board: Board): Promise<keyof typeof commands> {
  const query = "dpkg-query -f '${Version}' -W datasensor";
  const version = await board.read(query);
  return commands.older.includes(version) ? "older" : "newer";
}

/** Asserts that the board has the version that a command installs. */
export async function assertInstalled(
  board: Board,
  command: string,
): Promise<void> {
  assertEquals(commands[await installed(board)], command);
  const [, version] = command.match(/datasensor_(\S+)_arm64/)!;
  const printed = await board.read("datasensor --version");
  assertEquals(printed.split(" ")[1], version);
}

/** Installs a package with the guide's loop. */
export async function install(board: Board, command: string): Promise<void> {
  const [file] = command.match(/\/\S+/)!;
  await Deno.writeTextFile(`${board.folder}/boards`, "BOARD\n");
  const loop = guide.block("--allow-downgrades").replace(LATEST, file);
  const printed = await board.runOnOperator(loop);
  assertMatch(printed, /^BOARD: datasensor \S+ \(Deno .*, aarch64\)$/m);
  await assertInstalled(board, command);
}

/** Settings with which the service serves a sensor. */
const SETTINGS = [
  "FLAGS=--stdin --json --max-age 15",
  "SENSOR=while sleep 1; do echo 5.5; done",
];

/** The checks of the guide's section "Updates and many boards". */
export const UPDATE: Checks = {
  async "the command that `deno task package` prints updates the service"(
    board,
  ) {
    await board.runOnOperator(commands.newer);
    await assertInstalled(board, commands.newer);
  },

  async "the guide's commands go back, keep the settings, and restart the service and the sensor"(
    board,
  ) {
    await configure(board, ...SETTINGS);
    await board.waitForAnswer("200 5.5");
    const before = await property(board, "MainPID");
    await install(board, commands.older);
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
    await install(board, commands.newer);
    assertEquals(await property(board, "UnitFileState"), "disabled");
    await waitForState(board, "inactive");
    await board.reboot();
    await waitForState(board, "inactive");
    await board.run("sudo systemctl enable --now datasensor");
    await board.waitForAnswer("200 5.5");
  },

  async "the guide's commands copy the settings of a board to all boards"(
    board,
  ) {
    const commands = guide.block("cp settings");
    const [fetch] = commands.split("\n");
    await board.runOnOperator(fetch!);
    await restoreSettings(board);
    await board.waitForAnswer('200 "Sensor data"');
    await board.runOnOperator(commands.replace(fetch!, ""));
    await board.waitForAnswer("200 5.5");
  },
};

/** The checks that come last. */
export const REMOVAL: Checks = {
  async "a removal keeps the settings"(board) {
    await configure(board, ...SETTINGS);
    const command = commands[await installed(board)];
    await board.run(guide.line("apt-get purge").replace("purge", "remove -y"));
    assertEquals(await board.answer(), "no answer");
    await board.run(
      "grep 5.5 /etc/default/datasensor; ! systemctl cat datasensor",
    );
    await board.runOnOperator(command);
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
    await board.run("sudo groupdel plugdev"); // other systems do not have it
    const commands = guide.block("--fsys-tarfile");
    await board.runOnOperator(commands);
    await board.waitForAnswer('200 "Sensor data"');
    await configure(board, ...SETTINGS);
    const [exclude] = guide.match(/(?<=`)--exclude [^`]+/);
    await board.runOnOperator(
      commands.replace("tar -xf", `tar ${exclude} -xf`),
    );
    await board.reboot();
    await board.waitForAnswer("200 5.5");
  },
};
