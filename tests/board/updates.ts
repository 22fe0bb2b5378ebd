// Checks what the guide says about updates and removal.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { guide } from "../helpers/guide.ts";
import type { Board } from "./board.ts";
import {
  type Check,
  configure,
  property,
  restoreSettings,
  waitForState,
  write,
} from "./operations.ts";
import { section } from "./session.ts";

/** The guide's commands. */
const INSTALL_ON_MANY = guide.block("--allow-downgrades");
const COPY_SETTINGS = guide.block("cp settings").split("\n");
const PURGE = guide.line("apt-get purge");
const INSTALL_WITHOUT_APT = guide.block("--fsys-tarfile");
const EXCLUDE_SETTINGS = guide.match(/(?<=`)--exclude [^`]+/)[0];

/** The fixed name of the package that was made last. */
const LATEST = "dist/datasensor_arm64.deb";

/** Returns the command that `deno task package` prints for a package. */
function installCommand(name: string): string {
  return `scp dist/${name} BOARD: && ssh -t BOARD sudo apt install ./${name}`;
}

/** Returns the name of the package that the board has. */
export async function installed(board: Board): Promise<string> {
  const query = "dpkg-query -f '${Package}_${Version}_${Architecture}.deb' " +
    "-W datasensor";
  return await board.read(query);
}

/** Asserts that the board has a package, and that the service is of its version. */
export async function assertInstalled(
  board: Board,
  name: string,
): Promise<void> {
  assertEquals(await installed(board), name);
  const printed = await board.read("datasensor --version");
  assertEquals(printed.split(" ")[1], name.split("_")[1]);
}

/** Installs a package with the guide's loop. */
export async function install(board: Board, name: string): Promise<void> {
  await Deno.writeTextFile(`${board.folder}/boards`, "BOARD\n");
  const loop = INSTALL_ON_MANY.replace(LATEST, `dist/${name}`);
  const printed = await board.runOnOperator(loop);
  assertMatch(printed, /^BOARD: datasensor \S+ \(Deno .*\)$/m);
  await assertInstalled(board, name);
}

/** Settings with which the service serves a sensor. */
const SETTINGS = [
  "FLAGS=--stdin --json --max-age 15",
  "SENSOR=while sleep 1; do echo 5.5; done",
];

/**
 * The checks of the guide's section "Updates and many boards". None needs what another
 * one leaves, but the session's update, which keeps the sensor that was set before.
 */
export const UPDATES: Check[] = [
  section("Set a sensor"),

  section("Update"),

  {
    name:
      "the guide's commands go back, keep the settings, and restart the service and the sensor",
    async run(board) {
      await configure(board, ...SETTINGS);
      await board.waitForAnswer("200 5.5");
      const before = await property(board, "MainPID");
      await install(board, board.packages.older);
      await waitForState(board, "active");
      await board.waitForAnswer("200 5.5");
      const pid = await property(board, "MainPID");
      assert(pid !== before);
      const running = await board.read(`sudo stat -Lc %i /proc/${pid}/exe`);
      assertEquals(running, await board.read("stat -c %i /usr/bin/datasensor"));
    },
  },

  {
    name: "readings that nobody has read before an update are dropped",
    async run(board) {
      await restoreSettings(board); // without --stdin
      await board.waitForAnswer('200 "Sensor data"');
      await write(board, "66.6");
      await board.run(
        "echo FLAGS=--stdin | sudo tee -a /etc/default/datasensor",
      );
      await install(board, board.packages.newer);
      const ask = () => board.answer();
      const answer = await board.waitForText("the answer", ask, /^\d/);
      assertMatch(answer, /^503/);
      await configure(board, ...SETTINGS);
      await install(board, board.packages.older);
      await board.waitForAnswer("200 5.5");
    },
  },

  {
    name:
      "after systemctl disable, an update starts nothing, nor does a reboot",
    async run(board) {
      await configure(board, ...SETTINGS);
      await board.run("sudo systemctl disable --now datasensor");
      await install(board, board.packages.newer);
      assertEquals(await property(board, "UnitFileState"), "disabled");
      await waitForState(board, "inactive");
      await board.reboot();
      await waitForState(board, "inactive");
      await board.run("sudo systemctl enable --now datasensor");
      await board.waitForAnswer("200 5.5");
    },
  },

  {
    name: "the guide's commands copy the settings of a board to all boards",
    async run(board) {
      await configure(board, ...SETTINGS);
      const [fetch, ...distribute] = COPY_SETTINGS;
      await board.runOnOperator(fetch!);
      await restoreSettings(board);
      await board.waitForAnswer('200 "Sensor data"');
      await board.runOnOperator(distribute.join("\n"));
      await board.waitForAnswer("200 5.5");
    },
  },
];

/** The checks that come last, each after the one before it. */
export const REMOVAL: Check[] = [
  {
    name: "a removal keeps the settings",
    async run(board) {
      await configure(board, ...SETTINGS);
      const name = await installed(board);
      await board.run(PURGE.replace("purge", "remove -y"));
      assertEquals(await board.answer(), "no answer");
      await board.run(
        "grep 5.5 /etc/default/datasensor; ! systemctl cat datasensor",
      );
      await board.runOnOperator(installCommand(name));
      await board.waitForAnswer("200 5.5");
    },
  },

  section("Remove"),

  {
    name: "a purge leaves nothing",
    isOnTheWay: true,
    async run(board) {
      // Not the operator's files: downloads and the guide's port setting. Nor
      // systemd's folders, which it cannot remove while the root is read-only
      const find = "sudo find / -xdev -name '*datasensor*' ! -path '/home/*' " +
        "! -path '/var/log/*' ! -name 80-datasensor.conf " +
        "! -name 'systemd-private-*'";
      assertEquals(await board.read(find), "");
      await board.run("test ! -e /run/datasensor");
    },
  },

  {
    name: "the guide's commands install the files without apt, and update them",
    async run(board) {
      await board.run("sudo groupdel plugdev"); // other systems do not have it
      await board.runOnOperator(INSTALL_WITHOUT_APT);
      await board.waitForAnswer('200 "Sensor data"');
      await configure(board, ...SETTINGS);
      await board.waitForAnswer("200 5.5"); // also without the group
      await board.runOnOperator(
        INSTALL_WITHOUT_APT.replace("tar -xf", `tar ${EXCLUDE_SETTINGS} -xf`),
      );
      await board.reboot();
      await board.waitForAnswer("200 5.5");
    },
  },
];
