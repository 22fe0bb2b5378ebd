// deno-lint-ignore-file no-console -- how soon and how much are results

// Checks what the guide says about sensors. A sensor, once set, stays until another
// check replaces it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { guide } from "../helpers/guide.ts";
import { HEARD, KEYS } from "../consumers/radio.ts";
import type { Board } from "./board.ts";
import {
  type Check,
  configure,
  edit,
  journal,
  property,
  revert,
  uncomment,
  waitForLongRun,
  waitForState,
  write,
} from "./operations.ts";

const UNIT = "datasensor-sensor";

/** How the guide says that systemctl status names a group that does not exist. */
const MISSING_GROUP = guide.match(/status=\d+\/GROUP/)[0];

/** Where the guide says that a sensor can write. */
const [SAID_FOLDERS] = guide.match(/It can write only to .*?\.\s+It can/s);

/** How long the guide says that the sensor and the service may take to stop. */
const [, SENSOR_STOP_S, SERVICE_STOP_S] = guide
  .match(/gives the sensor up to (\d+) s, .*? log up to (\d+)\s+s/s);

/** The guide's drop-ins of the sensor, and its commands that show what happened. */
const RUN_AS_USER = guide.block("User=pi");
const ADD_GROUP = guide.block("SupplementaryGroups=audio");
const SHOW_STATUS = guide.line("systemctl status");
const [SHOW_BOTH] = guide.match(/systemctl status datasensor \S+(?=`)/);
const SHOW_WARNINGS = guide.line("# warnings");

/** The guide's settings of a sensor, a script, and the command that installs it. */
const SETTINGS = guide.block("SENSOR=/usr/local/bin/my-sensor");
const SENSOR_SCRIPT = guide.block("#!/bin/sh\nwhile read");
const INSTALL_SCRIPT = guide.line("sudo install -m 755 my-sensor");

/** How the guide repeats a program that ends. */
const [REPEAT] = guide.match(/SENSOR=while :; do my-sensor; sleep \d+; done/);

/** The guide's programs that keep readings apart, and its command that shows the log. */
const [, MERGE] = guide.match(/`(\/usr\/lib\/datasensor\/merge .*?)`/);
const [SHOW_LOG] = guide.match(/journalctl -u 'datasensor\*' -p notice -n 20/);

/** What the guide says about a sensor that ends, is not executable, or hangs. */
const [ENDED] = guide.match(/ended with status 0/);
const [NOT_EXECUTABLE] = guide.match(/not executable/);

/** The groups whose devices a sensor can open, as the guide says. */
const [, SAID_GROUPS] = guide.match(/belong to the groups (.*?), as\s+in/s);

/** A sensor that counts up once a second, with each backslash written twice. */
const COUNTER = String
  .raw`SENSOR=i=0; while sleep 1; do i=$((i+1)); printf '%d\\n' $i; done`;

/** A Python script that does not flush its output. */
const SCRIPT = "import time\nwhile True:\n  print(7.5)\n  time.sleep(1)\n";

/** A program that prints what rtl_433 hears of six transmitters, and then of one. */
const RTL_433 = `#!/bin/sh
cat <<'HEARD'
${HEARD}{"time" : "2026-
HEARD
while sleep 2; do
  echo '{"time" : "2026-11-22 19:01:00", "model" : "Nexus-TH", "id" : 42, "channel" : 2, "battery_ok" : 1, "temperature_C" : -2.500, "humidity" : 80}'
done
`;

/** A program that hangs if a file exists, or prints how long the board is up, in s. */
const HANGING = `#!/bin/sh
[ ! -e /run/hang ] || exec sleep infinity
while cut -d ' ' -f 1 /proc/uptime; do sleep 1; done
`;

/**
 * After how long without a line the sensor is started again, in s. It prints each
 * second, on a busy machine every few.
 */
const SILENCE_S = 10;

/**
 * How long it may take to start a sensor that hangs again, in s: systemd pauses for 2 s,
 * and for 15 s more after a short run. The rest is for a busy machine.
 */
const RESTART_LIMIT_S = SILENCE_S + 2 + 15 + 10;

/** Sets the guide's flags and another sensor. */
async function setSensor(board: Board, sensor: string): Promise<void> {
  await configure(board, SETTINGS.split("\n")[0]!, sensor);
}

/** Waits until the guide's command shows a text. */
async function waitForLog(board: Board, text: string): Promise<void> {
  await board.waitFor(
    `"${text}" in the log`,
    () => board.run(SHOW_LOG),
    (log) => log.includes(text),
  );
}

/** Asserts that the service has no reading once it answers. */
async function assertHasNoReading(board: Board): Promise<void> {
  const ask = () => board.answer();
  const answer = await board.waitForText("the answer", ask, /^\d/);
  assertMatch(answer, /^503/);
}

/** Writes a file that only its owner may read, as in a home folder. */
async function writeFile(
  board: Board,
  file: string,
  text: string,
): Promise<void> {
  await board.run(`cat >${file} <<'END'\n${text}END\nchmod 700 ~ ${file}`);
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

/** Returns when the sensor was started, in s since the board was. */
async function startTime(board: Board): Promise<number> {
  const name = "ExecMainStartTimestampMonotonic";
  return Number(await property(board, name, UNIT)) / 1e6;
}

/** Asserts that a program that hung at a time is soon started again, and prints. */
async function assertIsBack(board: Board, begin: number): Promise<void> {
  const seconds = await board.waitFor(
    `a start after ${begin} s, in s from then`,
    async () => await startTime(board) - begin,
    (seconds) => seconds > 0,
  );
  console.log(`A program that hung was restarted after ${seconds.toFixed()} s`);
  assert(seconds <= RESTART_LIMIT_S, `It took ${seconds} s`);
  await board.waitForAnswer("200");
}

/** Waits until a line of the sensor's errors is in the journal. */
async function waitForError(board: Board, error: string): Promise<void> {
  await board.waitFor(
    `"${error}" in the journal of the sensor`,
    async () => (await journal(board, UNIT)).join("\n"),
    (lines) => lines.includes(error),
  );
}

/** The checks of the guide's sections "Your own sensor" and "No reading?". */
export const SENSOR: Check[] = [
  {
    name: "without SENSOR, no sensor runs",
    async run(board) {
      await waitForState(board, "active", "inactive");
      assertEquals(await property(board, "ExecMainStatus", UNIT), "0");
      assertEquals(await property(board, "Result", UNIT), "success");
      assertEquals(await property(board, "NRestarts", UNIT), "0");
    },
  },

  {
    name:
      "a sensor without its device has no reading, and the journal says why",
    async run(board) {
      await setSensor(board, "SENSOR=cat /dev/sensor");
      await waitForError(board, "cat: /dev/sensor: No such file");
      await board.waitForAnswer("503");
      await write(board, "20.5");
      await board.waitForAnswer("200 20.5"); // and no error replaces it
    },
  },

  {
    name:
      "the example prints the board's state, within half a minute with what was missing",
    needs: ["a kernel of its own"],
    async run(board) {
      await uncomment(board, "FLAGS=", "datasensor/board");
      await board.waitForAnswer('200 {"load": ');
      await fakeDevice(board, "/sys/class/thermal/thermal_zone0/temp");
      const begin = performance.now();
      await board.waitForAnswer('200 {"temperature_C": 21.5, "load": ');
      const seconds = (performance.now() - begin) / 1000;
      assert(seconds <= 30, `It took ${seconds} s`);
    },
  },

  {
    name:
      "the example of a missing program has no reading, and the journal says why",
    async run(board) {
      await uncomment(board, "FLAGS=", "rtl_433 -F json$");
      await waitForError(board, "rtl_433: not found");
      await board.waitForAnswer("503");
    },
  },

  {
    name:
      "the examples serve the last reading of each radio sensor, or one only",
    async run(board) {
      await writeFile(board, "rtl_433", RTL_433);
      await board.run("sudo install -m 755 rtl_433 /usr/local/bin");
      await uncomment(board, "FLAGS=", "latest 3600");
      const ask = () => board.answer();
      const answer = await board.waitForText("the answer", ask, /-2\.5/);
      const served = JSON.parse(answer.replace("200 ", ""));
      assertEquals(new Set(Object.keys(served)), new Set(KEYS));
      const [first, second] = KEYS.map((key) => Date.parse(served[key].time));
      assert(second! > first!, answer);
      // Of a minute, since a wrong time zone is wrong by a quarter of an hour or more
      const age = Date.parse(await board.read("date -uIs")) - second!;
      assert(age < 60_000, `The reading is ${age} ms old`);
      await uncomment(board, "FLAGS=", "select(.model");
      const one = /^200 .*"id":42,"channel":2,.*-2\.50*,/;
      await board.waitForText("the answer", ask, one);
    },
  },

  {
    name:
      "the guide's command merges two programs, and the value of one leaves when it ends",
    async run(board) {
      await writeFile(
        board,
        "kitchen",
        `#!/bin/sh
while echo "{\\"$(basename $0)\\": 20}"; do sleep 1; done
`,
      );
      await board.run(`sudo install -m 755 kitchen /usr/local/bin
sudo ln -s kitchen /usr/local/bin/attic`);
      const sensor = MERGE!.replace("kitchen=COMMAND", "kitchen=kitchen")
        .replace("attic=COMMAND", "attic=/usr/local/bin/attic");
      await setSensor(board, `SENSOR=${sensor}`);
      const names = async () => {
        const answer = await board.answer();
        if (!answer.startsWith("200 ")) return answer;
        const reading = JSON.parse(answer.slice(4));
        const values = Object.entries<{ value: unknown }>(reading)
          .map(([name, { value }]) => `${name} ${JSON.stringify(value)}`);
        return values.sort().join();
      };
      const both = 'attic {"attic":20},kitchen {"kitchen":20}';
      await board.waitFor(both, names, (names) => names === both);
      await board.run("sudo rm /usr/local/bin/attic; sudo pkill -x attic");
      const one = 'kitchen {"kitchen":20}';
      await board.waitFor(one, names, (names) => names === one);
      await waitForError(board, '"attic" ended');
    },
  },

  {
    name: "SILENCE= starts a program that hangs again, and the journal says so",
    async run(board) {
      await writeFile(board, "rtl_433", HANGING);
      await board.run("sudo install -m 755 rtl_433 /usr/local/bin");
      const flags = SETTINGS.split("\n")[0]!;
      await configure(
        board,
        flags,
        "SENSOR=rtl_433 -F json",
        `SILENCE=${SILENCE_S}`,
      );
      await board.waitForAnswer("200");
      await board.run(`sudo touch /run/hang\nsudo systemctl restart ${UNIT}`);
      const find = "pgrep -f '^sleep infinity'";
      await board.waitFor(
        "the program to hang",
        async () => (await board.attempt(find)).stdout,
      );
      const begin = await startTime(board);
      await board.run("sudo rm /run/hang");
      await assertIsBack(board, begin); // it has printed nothing
      await waitForError(board, `no line for ${SILENCE_S} s`);
      const stop = "sudo pkill -STOP -x rtl_433; cut -d ' ' -f 1 /proc/uptime";
      await assertIsBack(board, Number(await board.read(stop)));
    },
  },

  {
    name:
      "the example runs a buffered script in a virtual environment of a home folder",
    async run(board) {
      await board.run("python3 -m venv --without-pip venv");
      await writeFile(board, "sensor.py", SCRIPT);
      await uncomment(board, "FLAGS=", "sensor.py");
      await waitForError(board, "Permission denied");
      await edit(board, RUN_AS_USER, UNIT);
      await board.waitForAnswer("200 7.5");
      await revert(board, UNIT);
    },
  },

  {
    name: "python3 needs no -u, and filters need no stdbuf -oL",
    async run(board) {
      await writeFile(board, "sensor.py", SCRIPT);
      await board.run("sudo install -m 755 sensor.py /usr/local/bin/my-sensor");
      await setSensor(board, "SENSOR=python3 /usr/local/bin/my-sensor");
      await board.waitForAnswer("200 7.5");
      const loop = "while sleep 0.5; do echo 7.5 C; done";
      const filters = "sed s/7/8/ | cut -d ' ' -f 1 | grep 5 | jq -c .+1";
      await setSensor(board, `SENSOR=${loop} | ${filters}`);
      await board.waitForAnswer("200 9.5");
    },
  },

  {
    name: "a sensor reads the serial port",
    needs: ["a device"],
    async run(board) {
      await setSensor(board, "SENSOR=cat /dev/ttyAMA0");
      await waitForState(board, "active");
      const writeAndAsk = async () => {
        await board.machine.writeToSerialPort!("9.5\n");
        return await board.answer();
      };
      await board.waitForText("the answer", writeAndAsk, /^200 9\.5$/);
    },
  },

  {
    name: "a sensor opens devices of the groups that the guide names",
    async run(board) {
      const groups = Array.from(
        SAID_GROUPS!.matchAll(/`(\w+)`/g),
        ([, group]) => group!,
      );
      assert(groups.length > 4);
      for (const [index, group] of groups.entries()) {
        await board.run(`echo ${index} | sudo tee /run/device-${group}
sudo chmod 660 /run/device-${group}; sudo chgrp ${group} /run/device-${group}`);
      }
      const read = "while cat /run/device-* | jq -sc .; do sleep 1; done";
      await setSensor(board, `SENSOR=${read}`);
      const all = JSON.stringify(groups.map((_, index) => index));
      const sorted = async () =>
        JSON.stringify(JSON.parse((await board.answer()).slice(4)).sort?.());
      await board.waitForAnswer("200");
      await board.waitFor(all, sorted, (read) => read === all);
      await board.run("sudo rm /run/device-*");
    },
  },

  {
    name:
      "a sensor opens a device with the group of the guide's drop-in, once it exists",
    async run(board) {
      await board.run(
        "echo 8.5 | sudo tee /run/device; sudo chmod 660 /run/device",
      );
      const read = "while :; do cat /run/device; sleep 1; done";
      await setSensor(board, `SENSOR=${read}`);
      await waitForError(board, "/run/device: Permission denied");
      await edit(board, ADD_GROUP.replace("audio", "sensors"), UNIT);
      await board.waitFor(
        `"${MISSING_GROUP}" in the status of the sensor`,
        async () => (await board.attempt(`systemctl status ${UNIT}`)).stdout,
        (status) => status.includes(MISSING_GROUP),
      );
      await board.run(
        "sudo groupadd --system sensors; sudo chgrp sensors /run/device",
      );
      await board.waitForAnswer("200 8.5");
      await revert(board, UNIT);
    },
  },

  {
    name: "a sensor can write only where the guide says",
    async run(board) {
      const find = "cd /var/tmp; touch /tmp/sensor sensor; echo $(find / " +
        "-path /proc -prune -o -path /sys -prune -o -type d -writable -print); " +
        "sleep infinity";
      await configure(board, "FLAGS=--stdin", `SENSOR=${find}`);
      await board.waitForAnswer("200");
      const found = JSON.parse((await board.answer()).slice(4));
      const names = Array.from(
        SAID_FOLDERS.matchAll(/`(.*?)`/g),
        ([, name]) => name!,
      );
      // On Debian 13, /run/lock is writable after some boots only
      const isCertain = (name: string) => name !== "/run/lock";
      assertEquals(
        found.trim().split(" ").filter(isCertain).sort(),
        names.filter(isCertain).sort(),
      );
      await board.run("test ! -e /tmp/sensor; test ! -e /var/tmp/sensor");
    },
  },

  {
    name: "the guide's sensor runs, and systemctl status shows both units",
    async run(board) {
      await writeFile(board, "my-sensor", SENSOR_SCRIPT);
      await board.run(INSTALL_SCRIPT);
      await configure(board, SETTINGS);
      await board.waitForAnswer('200 {"load": ');
      const status = await board.run(
        "systemctl status datasensor datasensor-sensor",
      );
      assertEquals(status.match(/Active: active \(running\)/g)?.length, 2);
    },
  },

  {
    name:
      "the journal says what to do about a sensor that ends or is not executable, which is not called running",
    async run(board) {
      await writeFile(board, "my-sensor", "#!/bin/sh\necho 21.5\n");
      await board.run(INSTALL_SCRIPT);
      await configure(board, SETTINGS);
      await waitForLog(board, ENDED!);
      const status = async () => (await board.attempt(SHOW_BOTH)).stdout;
      await board.waitForText("the status", status, /\(start-pre\)/);
      await configure(board, `${SETTINGS}\n${REPEAT}`);
      await board.waitForAnswer("200 21.5");
      await board.run("sudo chmod -x /usr/local/bin/my-sensor");
      await configure(board, SETTINGS);
      await waitForLog(board, NOT_EXECUTABLE!);
      await board.run("sudo chmod +x /usr/local/bin/my-sensor");
      await writeFile(board, "my-sensor", "#!/bin/sh\necho 21.5; sleep 1000\n");
      await board.run(INSTALL_SCRIPT);
    },
  },

  {
    name: "the example adds the time to each reading of the guide's sensor",
    async run(board) {
      await uncomment(board, "FLAGS=", "value: .,");
      const withTime = /^200 {"value":21.5,"time":"20\S+Z"}$/;
      await board.waitForText("the answer", () => board.answer(), withTime);
    },
  },

  {
    name: "the service and the sensor are restarted after SIGKILL of either",
    async run(board) {
      await setSensor(board, COUNTER);
      await board.waitForAnswer("200");
      for (const unit of ["datasensor", UNIT]) {
        await waitForLongRun(board);
        const before = await property(board, "MainPID", unit);
        await board.run(`sudo systemctl kill -s KILL ${unit}`);
        await board.waitFor(
          `another process of ${unit} than ${before}`,
          () => property(board, "MainPID", unit),
          (pid) => pid !== before,
        );
        await waitForState(board, "active");
        await board.waitForAnswer("200 1"); // the counter has begun again
      }
    },
  },

  {
    name:
      "a sensor that ends with status 99 is started again, and half a line is never served",
    async run(board) {
      await board.run("sudo touch /run/half");
      // The unit makes a run take 15 s, after which the next one soon follows
      const half =
        "if [ -e /run/half ]; then sleep 15.5; printf 2; exit 99; fi";
      await setSensor(
        board,
        `SENSOR=${half}; while echo 21.5; do sleep 1; done`,
      );
      const find = "pgrep -f '^sleep 15.5'";
      await board.waitFor(
        "a run that will end with half a line",
        async () => (await board.attempt(find)).stdout,
      );
      await board.run("sudo rm /run/half");
      const ask = () => board.answer();
      const answer = await board.waitForText("the answer", ask, /^200/);
      assertEquals(answer, "200 21.5"); // not 221.5
    },
  },

  {
    name:
      "readings that arrived while the service was down, or systemd waited to restart it, are dropped",
    async run(board) {
      await configure(board, "FLAGS=--stdin --json", "SENSOR=sleep infinity");
      await board.waitForAnswer("503");
      await board.run("sudo systemctl kill -s STOP datasensor");
      await write(board, "66.6");
      await board.run("sudo systemctl kill -s KILL datasensor");
      const state = () => property(board, "SubState");
      await board.waitForText("the state of the service", state, /^start-pre$/);
      await write(board, "77.7");
      await assertHasNoReading(board);
      await write(board, "88.8");
      await board.waitForAnswer("200 88.8");
    },
  },

  {
    name:
      "without --stdin no sensor runs, the journal says why, and readings that nobody has read are dropped once it is set",
    async run(board) {
      const sensor = "SENSOR=echo 55.5; sleep infinity";
      await configure(board, "FLAGS=", sensor);
      await board.waitForAnswer('200 "Sensor data"');
      await waitForLog(board, "FLAGS lacks --stdin");
      await waitForState(board, "active", "inactive");
      await write(board, "66.6");
      await configure(board, "FLAGS=--stdin --json", "SENSOR=sleep infinity");
      await assertHasNoReading(board);
    },
  },

  {
    name:
      "a reading that was written while the service was stopped starts it, and is dropped",
    async run(board) {
      await configure(board, "FLAGS=--stdin --json", "SENSOR=");
      await board.waitForAnswer("503");
      await board.run("sudo systemctl stop datasensor");
      await write(board, "66.6");
      await assertHasNoReading(board);
    },
  },

  {
    name: "the first reading of a sensor is never dropped",
    async run(board) {
      const sensor = "SENSOR=cut -d ' ' -f 1 /proc/uptime; sleep infinity";
      await configure(board, "FLAGS=--stdin --json", sensor);
      for (let times = 0; times < 5; times++) {
        await board.waitForAnswer("200");
        const begin = Number(await board.read("cut -d ' ' -f 1 /proc/uptime"));
        await board.run("sudo systemctl restart datasensor");
        const ask = () => board.answer();
        const answer = await board.waitForText("the answer", ask, /^200/);
        assert(Number(answer.slice(4)) > begin, answer);
      }
    },
  },

  {
    name:
      "an invalid flag stops the service and the sensor permanently, their status says why, and both run when it is corrected",
    async run(board) {
      await configure(board, "FLAGS=--stdin --foo", COUNTER);
      await waitForState(board, "failed", "inactive");
      assertEquals(await property(board, "ExecMainStatus"), "2");
      assertEquals(await property(board, "NRestarts"), "0");
      const { stdout } = await board.attempt(SHOW_STATUS);
      assertMatch(stdout, /Unknown flag "--foo"/);
      assertEquals(
        await property(board, "ActiveState", "datasensor.socket"),
        "active",
      );
      await setSensor(board, COUNTER);
      await board.waitForAnswer("200");
    },
  },

  {
    name: "the guide's commands find a dropped line in the journal",
    async run(board) {
      await setSensor(board, "SENSOR=while sleep 1; do echo oops; done");
      const warnings = () => board.run(SHOW_WARNINGS);
      await board.waitForText("the warnings", warnings, /not JSON/);
      await board.waitForAnswer("503");
    },
  },

  {
    name: "systemctl stop stops the sensor too, and start starts it",
    async run(board) {
      await setSensor(board, COUNTER);
      await board.waitForAnswer("200");
      await board.run("sudo systemctl stop datasensor");
      await waitForState(board, "inactive");
      assertEquals(await board.answer(), "no answer");
      await board.run("sudo systemctl start datasensor");
      await board.waitForAnswer("200");
    },
  },

  {
    name:
      "a sensor that ignores SIGTERM delays the stop for as long as the guide says",
    async run(board) {
      await setSensor(
        board,
        "SENSOR=trap '' TERM; while echo 1; do sleep 1; done",
      );
      await board.waitForAnswer("200 1");
      await board.run("sudo systemctl stop datasensor");
      const begin = await property(board, "ActiveExitTimestampMonotonic", UNIT);
      const end = await property(board, "InactiveEnterTimestampMonotonic");
      const seconds = (Number(end) - Number(begin)) / 1e6;
      // Without a request, the service does not need its share
      const limit = Number(SENSOR_STOP_S) + Number(SERVICE_STOP_S);
      assert(seconds <= limit, `It took ${seconds} s`);
    },
  },

  {
    name: "the service starts after a reading was written while it was stopped",
    async run(board) {
      await setSensor(board, "SENSOR=while echo 1; do sleep 1; done");
      await board.run("sudo systemctl stop datasensor.socket");
      await write(board, "21.5");
      await board.run("sudo systemctl start datasensor");
      await board.waitForAnswer("200 1");
    },
  },
];
