// Checks what the guide says about sensors, in the guide's order.

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Board } from "./board.ts";
import {
  type Checks,
  edit,
  guide,
  journal,
  property,
  removeDropIn,
  waitOnBoard,
} from "./operations.ts";

/** Returns the number of the sensor's error messages in the journal. */
async function countErrors(board: Board): Promise<number> {
  const lines = await journal(board, "temperature");
  return lines.filter((line) => line.includes("No such file")).length;
}

/** Creates the device that the example reads, or changes its value. */
async function setDevice(board: Board, value: number): Promise<void> {
  await board.run(`cd /sys/class/thermal
[ -d thermal_zone0 ] || sudo mount -t tmpfs tmpfs .
sudo mkdir -p /sys/class/thermal/thermal_zone0
echo ${value} | sudo tee /sys/class/thermal/thermal_zone0/temp`);
}

/** Removes the device. */
async function removeDevice(board: Board): Promise<void> {
  await board.run("sudo rm /sys/class/thermal/thermal_zone0/temp");
}

/** Writes a reading with the guide's command. */
async function write(board: Board, reading: string): Promise<void> {
  const command = guide.block("| sudo tee /run/datasensor");
  await board.run(command.replace("21.5", reading));
}

/** The checks of the guide's section "Connect a sensor". */
export const SENSOR: Checks = {
  async "a sensor without its device has no reading, and the journal says why"(
    board,
  ) {
    await board.run(guide.block("enable datasensor temperature"));
    await waitOnBoard(async () => await countErrors(board) >= 2);
    await board.waitForAnswer("503");
    assertMatch(
      await board.run(guide.block("journalctl -u temperature")),
      /thermal_zone0\/temp: No such file/,
    );
  },

  async "the guide's command writes a reading, and an error never replaces it"(
    board,
  ) {
    const before = await countErrors(board);
    await write(board, "21.5");
    await board.waitForAnswer('200 "21.5"');
    await waitOnBoard(async () => await countErrors(board) > before);
    assertEquals(await board.answer(), '200 "21.5"');
    await board.waitForAnswer("503"); // too old
  },

  async "the sensor's unit writes the value of its device"(board) {
    await setDevice(board, 48312);
    await board.waitForAnswer('200 "48312"');
  },

  async "a sensor that dies is restarted"(board) {
    await board.run("sudo systemctl kill -s KILL temperature");
    await setDevice(board, 49000);
    await board.waitForAnswer('200 "49000"');
  },

  async "a sensor can be restarted"(board) {
    await board.run("sudo systemctl restart temperature");
    await setDevice(board, 50000);
    await board.waitForAnswer('200 "50000"');
  },

  async "the service can be restarted, and forgets the last reading"(board) {
    await removeDevice(board);
    await board.run("sudo systemctl restart datasensor");
    await board.waitForAnswer("503");
    await setDevice(board, 51000);
    await board.waitForAnswer('200 "51000"');
  },

  async "a reading starts the stopped service"(board) {
    await removeDevice(board);
    await board.run("sudo systemctl stop datasensor");
    assertEquals(await board.answer(), "no answer");
    await write(board, "22.5");
    await board.waitForAnswer('200 "22.5"');
  },

  async "the guide's drop-in adds a flag to those of the sensor"(board) {
    const ask = "curl -sS http://[::1]:5000/datasensor";
    assertEquals((await board.attempt(ask)).code, 7); // refused
    await edit(board, guide.block("FLAGS=--host ::"));
    await write(board, "23.5");
    await board.waitForAnswer('200 "23.5"');
    assertEquals(await board.run(ask), '"23.5"');
  },

  async "the guide's drop-in makes the service serve a number"(board) {
    await edit(board, guide.block("--json --max-age 60"));
    await write(board, "23.5");
    await board.waitForAnswer("200 23.5");
    await removeDropIn(board);
  },

  async "the guide's commands update the sensor's units"(board) {
    await board.run(
      "echo '#' | sudo tee -a /etc/systemd/system/datasensor.socket",
    );
    await board.run(guide.block("datasensor.service.d /etc/systemd/system/"));
    await board.run(
      "cmp systemd/datasensor.socket /etc/systemd/system/datasensor.socket",
    );
    await write(board, "23.5");
    await board.waitForAnswer('200 "23.5"');
  },

  async "the guide's command finds a warning in the journal"(board) {
    await board.waitForAnswer("503");
    const warnings = guide.line("# warnings");
    const before = (await board.attempt(warnings)).stdout;
    assert(!before.includes("Dropping lines"), before);
    await board.run(
      "(head -c 70000 /dev/zero | tr '\\0' x; echo) | sudo tee /run/datasensor >long",
    );
    await write(board, "24.5");
    await board.waitForAnswer('200 "24.5"');
    await board.run("sudo journalctl --sync");
    assertMatch(await board.run(warnings), /Dropping lines/);
  },

  async "the guide's commands stop the service and its sensor, and start them again"(
    board,
  ) {
    await board.run(guide.block("stop datasensor.socket datasensor"));
    for (const unit of ["datasensor", "temperature", "datasensor.socket"]) {
      assertEquals(await property(board, "ActiveState", unit), "inactive");
    }
    assertEquals(await board.answer(), "no answer");
    await board.run(guide.block("systemctl start datasensor"));
    await setDevice(board, 52000);
    await board.waitForAnswer('200 "52000"');
  },

  async "the sensor is read again after a reboot"(board) {
    await board.reboot();
    await board.waitForAnswer("503");
    assertEquals(await property(board, "ActiveState", "temperature"), "active");
    await setDevice(board, 53000);
    await board.waitForAnswer('200 "53000"');
  },

  async "the guide's commands replace the example with another sensor"(board) {
    await board.run(`sudo tee /usr/local/bin/my-sensor <<'END'
#!/bin/sh
while sleep 1; do echo 7; done
END
sudo chmod +x /usr/local/bin/my-sensor`);
    await board.run(guide.block("my-sensor"));
    await board.waitForAnswer('200 "7"');
    await setDevice(board, 54000);
    assertEquals(await board.answer(), '200 "7"');
  },

  async "the guide's commands disconnect the sensor"(board) {
    const commands = guide.block(
      "disable --now temperature\nsudo systemctl stop",
    );
    await board.run(commands.replaceAll("temperature", "my-sensor"));
    await board.waitForAnswer('200 "Sensor data"');
    await board.run("test ! -e /run/datasensor");
  },
};
