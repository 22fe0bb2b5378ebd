// Checks what the guide says about sensors. A sensor, once set, stays until another
// check replaces it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Board } from "./board.ts";
import {
  type Checks,
  configure,
  edit,
  guide,
  journal,
  property,
  restoreSettings,
  revert,
  uncomment,
  waitForState,
  waitOnBoard,
} from "./operations.ts";

const UNIT = "datasensor-sensor";

const guideText = await Deno.readTextFile(".board/README.md");

/** The guide's command that writes a reading to the FIFO. */
const WRITE = guideText.match(/echo 21\.5 \| sudo tee \S+(?=`)/)![0];

/** How the guide says that systemctl status names a group that does not exist. */
const MISSING_GROUP = guideText.match(/status=\d+\/GROUP/)![0];

/** The guide's settings of a sensor. */
const SETTINGS = guide.block("SENSOR=/usr/local/bin/my-sensor");

/** A sensor that counts up once a second, with each backslash written twice. */
const COUNTER = String
  .raw`SENSOR=i=0; while sleep 1; do i=$((i+1)); printf '%d\\n' $i; done`;

/** A Python script that does not flush its output. */
const SCRIPT = "import time\nwhile True:\n  print(7.5)\n  time.sleep(1)\n";

/** A program that prints what rtl_433 hears of two sensors, and junk. */
const RTL_433 = `#!/bin/sh
echo '{"time" : "2026-11-22 19:00:00", "model" : "Nexus-TH", "id" : 42, "C" : 1.5}'
celsius=3
while sleep 2; do
  echo '{"time" : "2026-'
  echo '{"time" : "2026-11-22 19:00:01", "model" : "TFA", "id" : 7, "C" : '$celsius'}'
  celsius=-2
done
`;

/** Sets the guide's flags and another sensor. */
async function setSensor(board: Board, sensor: string): Promise<void> {
  await configure(board, SETTINGS.split("\n")[0]!, sensor);
}

/** Writes a file that only its owner may read, as in a home folder. */
async function writeFile(
  board: Board,
  file: string,
  text: string,
): Promise<void> {
  await board.run(`cat >${file} <<'END'\n${text}END\nchmod 700 ~ ${file}`);
}

/** Writes a reading to the FIFO, with the guide's command. */
async function write(board: Board, reading: string): Promise<void> {
  await board.run(WRITE.replace("21.5", reading));
}

/** Puts a file in place of one that a driver of the board would provide. */
async function fakeDevice(board: Board, file: string): Promise<void> {
  const [, folder] = file.match(/^(\/sys\/\w+\/\w+(?:\/devices)?)\//)!;
  await board.run(
    `mountpoint -q ${folder} || sudo mount -t tmpfs tmpfs ${folder}
sudo mkdir -p ${file.replace(/[^/]+$/, "")}`,
  );
  await board.run(`echo 21500 | sudo tee ${file}`);
}

/** Waits until a line of the sensor's errors is in the journal. */
async function waitForError(board: Board, error: string): Promise<void> {
  await waitOnBoard(async () =>
    (await journal(board, UNIT)).some((line) => line.includes(error))
  );
}

/** The checks of the guide's sections "Your own sensor" and "No reading?". */
export const SENSOR: Checks = {
  async "without SENSOR, no sensor runs"(board) {
    await waitForState(board, "active", "inactive");
    assertEquals(await property(board, "ExecMainStatus", UNIT), "99");
    assertEquals(await property(board, "Result", UNIT), "success");
    assertEquals(await property(board, "NRestarts", UNIT), "0");
  },

  async "a sensor without its device has no reading, and the journal says why"(
    board,
  ) {
    await uncomment(board, "FLAGS=", "thermal_zone0");
    await waitForError(board, "thermal_zone0/temp");
    await board.waitForAnswer("503");
    await write(board, "20.5");
    await board.waitForAnswer("200 20.5"); // and no error replaces it
    await board.waitForAnswer("503"); // too old
  },

  async "the example reads the processor's temperature in degrees"(board) {
    await fakeDevice(board, "/sys/class/thermal/thermal_zone0/temp");
    await board.waitForAnswer("200 21.5");
  },

  async "the example reads a DS18B20"(board) {
    await fakeDevice(board, "/sys/bus/w1/devices/28-1/temperature");
    await uncomment(board, "FLAGS=", "28-");
    await board.waitForAnswer("200 21.5");
  },

  async "the example of a missing program has no reading, and the journal says why"(
    board,
  ) {
    await uncomment(board, "FLAGS=", "rtl_433 -F json$");
    await waitForError(board, "rtl_433: not found");
    await board.waitForAnswer("503");
  },

  async "the example serves the last reading of each radio sensor"(board) {
    await writeFile(board, "rtl_433", RTL_433);
    await board.run("sudo install -m 755 rtl_433 /usr/local/bin");
    await uncomment(board, "FLAGS=", "tostring");
    let answer = "";
    await waitOnBoard(async () => {
      answer = await board.answer();
      return /"42":.*"C":1\.5\D.*"7":.*"C":-2\D/.test(answer);
    });
    const { 42: first, 7: second } = JSON.parse(answer.replace("200 ", ""));
    assertEquals([first.C, second.C, second.id], [1.5, -2, 7]);
    assert(Date.parse(second.time) > Date.parse(first.time), second.time);
    const age = Date.parse(await board.read("date -uIs")) -
      Date.parse(second.time);
    assert(age < 60_000, `The reading is ${age} ms old`);
  },

  async "the example merges the objects of two programs"(board) {
    await writeFile(
      board,
      "kitchen",
      `#!/bin/sh
while echo "{\\"$(basename $0)\\": 20}"; do sleep 1; done
`,
    );
    await board.run(`sudo install -m 755 kitchen /usr/local/bin
sudo ln -s kitchen /usr/local/bin/attic`);
    await uncomment(board, "FLAGS=", "kitchen");
    const both = /^200 {("kitchen":20|"attic":20|,){3}}$/;
    await waitOnBoard(async () => both.test(await board.answer()));
  },

  async "the example runs a buffered script in a virtual environment of a home folder"(
    board,
  ) {
    await board.run("python3 -m venv --without-pip venv");
    await writeFile(board, "sensor.py", SCRIPT);
    await uncomment(board, "FLAGS=", "sensor.py");
    await waitForError(board, "Permission denied");
    await edit(board, guide.block("User=pi"), UNIT);
    await board.waitForAnswer("200 7.5");
    await revert(board, UNIT);
  },

  async "python3 needs no -u, and other programs need stdbuf -oL"(board) {
    await writeFile(board, "sensor.py", SCRIPT);
    await board.run("sudo install -m 755 sensor.py /usr/local/bin/my-sensor");
    await setSensor(board, "SENSOR=python3 /usr/local/bin/my-sensor");
    await board.waitForAnswer("200 7.5");
    const cut = "while sleep 0.5; do echo 8.5 C; done | cut -d ' ' -f 1";
    await setSensor(board, `SENSOR=${cut}`);
    await board.waitForAnswer("503");
    await setSensor(board, `SENSOR=${cut.replace("cut", "stdbuf -oL cut")}`);
    await board.waitForAnswer("200 8.5");
  },

  async "a sensor reads the serial port"(board) {
    await setSensor(board, "SENSOR=cat /dev/ttyAMA0");
    await waitForState(board, "active");
    await waitOnBoard(async () => {
      await board.writeToSerialPort("9.5\n");
      return await board.answer() === "200 9.5";
    });
  },

  async "a sensor opens a device with the group of the guide's drop-in, once it exists"(
    board,
  ) {
    // Asks the device for its number of lines (GPIO_GET_CHIPINFO_IOCTL)
    await writeFile(
      board,
      "lines.py",
      `import fcntl, struct, time
while True:
  answer = fcntl.ioctl(open("/dev/gpiochip0"), 0x8044b401, bytes(68))
  print(struct.unpack("=64xI", answer)[0])
  time.sleep(1)
`,
    );
    await board.run("sudo install -m 755 lines.py /usr/local/bin/my-sensor");
    await setSensor(board, "SENSOR=python3 /usr/local/bin/my-sensor");
    await waitForError(board, "Permission denied: '/dev/gpiochip0'");
    await edit(board, guide.block("SupplementaryGroups=i2c"), UNIT);
    await waitOnBoard(async () =>
      (await board.attempt(`systemctl status ${UNIT}`)).stdout
        .includes(MISSING_GROUP)
    );
    await board.run(`sudo groupadd --system i2c
sudo chgrp i2c /dev/gpiochip0
sudo chmod 660 /dev/gpiochip0`);
    await board.waitForAnswer("200 8");
    await revert(board, UNIT);
  },

  async "a sensor can write only where the guide says"(board) {
    const find = "cd /var/tmp; touch /tmp/sensor sensor; echo $(find / " +
      "-path /proc -prune -o -path /sys -prune -o -type d -writable -print); " +
      "sleep infinity";
    await configure(board, "FLAGS=--stdin", `SENSOR=${find}`);
    await board.waitForAnswer("200");
    const found = JSON.parse((await board.answer()).slice(4));
    const [said] = guideText.match(/It can write only to .*?\.\s+It can/s)!;
    const names = Array.from(said.matchAll(/`(.*?)`/g), ([, name]) => name!);
    // On Debian 13, /run/lock is writable after some boots only
    const isCertain = (name: string) => name !== "/run/lock";
    assertEquals(
      found.trim().split(" ").filter(isCertain).sort(),
      names.filter(isCertain).sort(),
    );
    await board.run("test ! -e /tmp/sensor; test ! -e /var/tmp/sensor");
  },

  async "the guide's sensor runs, and systemctl status shows both units"(
    board,
  ) {
    const script = "#!/bin/sh\nwhile sleep 1; do echo 21.5; done\n";
    await writeFile(board, "my-sensor", script);
    await board.run("sudo install -m 755 my-sensor /usr/local/bin");
    await configure(board, SETTINGS);
    await board.waitForAnswer("200 21.5");
    const status = await board.run(
      "systemctl status datasensor datasensor-sensor",
    );
    assertEquals(status.match(/Active: active \(running\)/g)?.length, 2);
  },

  async "the service and the sensor are restarted after SIGKILL of either"(
    board,
  ) {
    await setSensor(board, COUNTER);
    await board.waitForAnswer("200");
    for (const unit of ["datasensor", UNIT]) {
      const before = await property(board, "MainPID", unit);
      await board.run(`sudo systemctl kill -s KILL ${unit}`);
      await waitOnBoard(async () =>
        await property(board, "MainPID", unit) !== before
      );
      await waitForState(board, "active");
      await board.waitForAnswer("200 1"); // the counter has begun again
    }
  },

  async "a line whose rest never comes is never served"(board) {
    await board.run("touch /tmp/half; sudo touch /run/half");
    const half = "if [ -e /run/half ]; then printf 2; exit 1; fi; " +
      "while sleep 1; do echo 21.5; done";
    await setSensor(board, `SENSOR=${half}`);
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts", UNIT)) >= 2
    );
    assertMatch(await board.answer(), /^503/);
    await board.run("sudo rm /run/half");
    const answers = new Set<string>();
    await waitOnBoard(async () => {
      const answer = await board.answer();
      if (!answer.startsWith("503")) answers.add(answer);
      return answers.size > 0;
    });
    assertEquals([...answers], ["200 21.5"]);
  },

  async "readings that arrived while the service was down are dropped"(board) {
    await configure(board, "FLAGS=--stdin --json", "SENSOR=sleep infinity");
    await board.waitForAnswer("503");
    await board.run("sudo systemctl kill -s STOP datasensor");
    await write(board, "66.6");
    const before = await property(board, "MainPID");
    await board.run("sudo systemctl kill -s KILL datasensor");
    await waitOnBoard(async () =>
      (await board.answer()) !== "no answer" &&
      await property(board, "MainPID") !== before
    );
    assertMatch(await board.answer(), /^503/);
    await write(board, "77.7");
    await board.waitForAnswer("200 77.7");
  },

  async "an invalid flag stops the sensor too, and both run when it is corrected"(
    board,
  ) {
    await configure(board, "FLAGS=--stdin --foo", COUNTER);
    await waitForState(board, "failed", "inactive");
    assertEquals(await property(board, "NRestarts"), "0");
    assertEquals(
      await property(board, "ActiveState", "datasensor.socket"),
      "active",
    );
    await setSensor(board, COUNTER);
    await board.waitForAnswer("200");
  },

  async "the guide's commands find a dropped line in the journal"(board) {
    await setSensor(board, "SENSOR=while sleep 1; do echo oops; done");
    await waitOnBoard(async () =>
      (await board.run(guide.line("# warnings"))).includes("not JSON")
    );
    await board.waitForAnswer("503");
  },

  async "systemctl stop stops the sensor too, and start starts it"(board) {
    await setSensor(board, COUNTER);
    await board.waitForAnswer("200");
    await board.run("sudo systemctl stop datasensor");
    await waitForState(board, "inactive");
    assertEquals(await board.answer(), "no answer");
    await board.run("sudo systemctl start datasensor");
    await board.waitForAnswer("200");
  },

  async "a sensor that ignores SIGTERM delays the stop for as long as the guide says"(
    board,
  ) {
    await setSensor(
      board,
      "SENSOR=trap '' TERM; while echo 1; do sleep 1; done",
    );
    await board.waitForAnswer("200 1");
    const begin = performance.now();
    await board.run("sudo systemctl stop datasensor");
    const seconds = (performance.now() - begin) / 1000;
    const [, sensor, service] = guideText
      .match(/which gets up to (\d+) s\..*? get up to (\d+) s/s)!;
    const limit = Number(sensor) + Number(service);
    assert(seconds <= limit, `It took ${seconds} s`);
  },

  async "the service starts after a reading was written while it was stopped"(
    board,
  ) {
    await board.run("sudo systemctl stop datasensor.socket");
    await write(board, "21.5");
    await board.run("sudo systemctl start datasensor");
    await board.waitForAnswer("200 1");
  },

  async "the service and the sensor start after a reboot"(board) {
    await board.reboot();
    await board.waitForAnswer("200");
    await waitForState(board, "active");
  },

  async "without SENSOR, the fixed text is served again"(board) {
    await restoreSettings(board);
    await board.waitForAnswer('200 "Sensor data"');
    assert(await property(board, "ActiveState", UNIT) === "inactive");
  },
};
