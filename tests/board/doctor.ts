// Checks what datasensor-doctor says of each state in which a board can be.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { guide } from "../helpers/guide.ts";
import type { Board } from "./board.ts";
import {
  type Check,
  configure,
  edit,
  property,
  restoreSettings,
  revert,
} from "./operations.ts";

/** The guide's command, and what shows the log, too. */
const DOCTOR = guide.line("sudo datasensor-doctor");

/** The guide's flags for a sensor, with an age that is soon reached. */
const FLAGS = "FLAGS=--stdin --json --max-age 5";

/** A sensor that prints readings. */
const SENSOR = "SENSOR=while echo 21.5; do sleep 1; done";

/** A state of a board, and what the command says of it. */
interface State {
  readonly name: string;
  readonly settings?: string[];
  /** Commands that make the state, before and after the settings are applied. */
  readonly before?: string;
  readonly after?: string;
  /** The drop-in of the sensor. */
  readonly dropIn?: string;
  /** What the first line is, and what else is in the report. */
  readonly says: string | RegExp;
  readonly shows?: RegExp;
  /** Commands that leave the board as it was. */
  readonly end?: string;
}

const STATES: State[] = [
  {
    name: "no sensor is set",
    settings: [],
    says: "No sensor is set: the answer is a fixed text",
  },
  {
    name: "--stdin is missing",
    settings: ["FLAGS=", SENSOR],
    says:
      "FLAGS lacks --stdin: the sensor does not run, and the answer is a fixed text",
  },
  {
    name: "SENSOR is empty",
    settings: [FLAGS],
    says: "SENSOR is empty: nothing prints readings",
  },
  {
    name: "the sensor is not installed",
    settings: [FLAGS, "SENSOR=/usr/local/bin/none"],
    says: /^The sensor was not found: /,
    shows: /\/usr\/local\/bin\/none: not found/,
  },
  {
    name: "the sensor is not executable",
    before: "echo 'echo 21.5' | sudo tee /usr/local/bin/my-sensor",
    settings: [FLAGS, "SENSOR=/usr/local/bin/my-sensor"],
    says: /^The sensor is not executable/,
    shows: /my-sensor: Permission denied/,
    end: "sudo rm /usr/local/bin/my-sensor",
  },
  {
    name: "the sensor may not open its device",
    before: "echo 1 | sudo tee /run/device; sudo chmod 600 /run/device",
    settings: [FLAGS, "SENSOR=cat /run/device"],
    says: "The sensor ended with status 1",
    shows: /cat: \/run\/device: Permission denied/,
    end: "sudo rm /run/device",
  },
  {
    name: "the sensor's group does not exist",
    settings: [FLAGS, SENSOR],
    dropIn: "[Service]\nSupplementaryGroups=nobody-is-here\n",
    says: "The sensor cannot start: one of its groups does not exist",
    shows: /nobody-is-here/,
  },
  {
    name: "the sensor reads once and ends",
    settings: [FLAGS.replace("5", "0.1"), "SENSOR=echo 21.5"],
    says: /^The sensor ended with status 0\. /,
  },
  {
    name: "the sensor fails again and again",
    settings: [FLAGS, "SENSOR=echo No device >&2; exit 3"],
    says: "The sensor ended with status 3",
    shows: /No device/,
  },
  {
    name: "the sensor fails on a board whose name is a word of the messages",
    before: "sudo hostname The",
    settings: [FLAGS, "SENSOR=exit 3"],
    says: "BOARD sensor ended with status 3",
    end: "sudo hostname board",
  },
  {
    name: "the sensor prints nothing",
    settings: [FLAGS, "SENSOR=sleep infinity"],
    says: /^The sensor has printed nothing since it was started \d+ s ago$/,
  },
  {
    name: "awk keeps its input back",
    settings: [FLAGS, `${SENSOR} | awk '{ print $1 }'`],
    says: /^The sensor has printed nothing since /,
    shows: /keep lines back, or skip them: awk$/m,
  },
  {
    name: "lines are dropped",
    settings: [FLAGS, "SENSOR=while echo oops; do sleep 1; done"],
    says: 'Dropping lines that are not JSON, such as "oops"',
  },
  {
    name: "the sensor has stopped printing",
    settings: [FLAGS, "SENSOR=echo 21.5; sleep infinity"],
    says: /^The last reading is [\d.]+ s old: the limit is 5 s$/,
  },
  {
    name: "the sensor is dead, but its reading has no limit",
    settings: ["FLAGS=--stdin", "SENSOR=echo 21.5; sleep 1; exit 3"],
    says: "The sensor ended with status 3",
    shows: /^Answer: {2}200 "21\.5"$/m,
  },
  {
    name: "the sensor hangs, which was restarted before",
    settings: [
      FLAGS,
      "SENSOR=echo 21.5; trap 'exit 3' TERM; while :; do sleep 1; done",
    ],
    after: "sudo systemctl kill datasensor-sensor",
    says: /^The last reading is [\d.]+ s old: the limit is 5 s$/,
  },
  {
    name: "another program has the port",
    settings: [],
    before: "sudo systemctl stop datasensor; " +
      "sudo systemd-run --unit=other /usr/bin/datasensor --message other",
    says:
      /^Cannot listen on "0\.0\.0\.0", port 5000: another program uses the port/,
    shows: /The port belongs to "datasensor"/,
    end: "sudo systemctl stop other",
  },
  {
    name: "a flag is invalid",
    settings: ["FLAGS=--max-age 5"],
    says: /^The service has stopped: --max-age requires --stdin/,
  },
  {
    name: "the service is stopped",
    settings: [],
    after: "sudo systemctl stop datasensor",
    says: "The service is stopped",
  },
  {
    name: "a folder stands in place of the FIFO",
    before: `sudo systemctl stop datasensor-sensor datasensor datasensor.socket
sudo mkdir /run/datasensor`,
    settings: [],
    says:
      "The FIFO /run/datasensor cannot be created: rm: cannot remove '/run/datasensor': Is a directory",
    end: "sudo rmdir /run/datasensor",
  },
  {
    name: "the executable cannot run",
    settings: [],
    after: `sudo mv /usr/bin/datasensor executable
sudo install -m 755 /dev/null /usr/bin/datasensor
sudo systemctl restart datasensor || true`,
    says: "The service cannot start: /usr/bin/datasensor cannot run",
    end: "sudo mv executable /usr/bin/datasensor",
  },
  {
    name: "all is well with settings that go on in the next line",
    settings: [FLAGS, SENSOR.replace("; do ", "; do \\\n")],
    says: /^All is well: the reading is \d s old$/,
  },
  {
    name: "the service may not use the board's address",
    settings: ["FLAGS=--host 10.0.2.15"],
    says: /^The service has stopped: --host takes one of .*, not "ADDRESS"$/,
    shows: /--host ADDRESS --port 5000/,
  },
  {
    name: "the settings are changed, but not applied",
    settings: [],
    after: "echo FLAGS=--cors | sudo tee -a /etc/default/datasensor",
    says: "The settings have changed since the service was started",
  },
];

/** Returns what the command prints. */
async function examine(board: Board): Promise<string> {
  return (await board.attempt(DOCTOR)).stdout;
}

function isSaid(report: string, { says, shows = /^/ }: State): boolean {
  const [line] = report.split("\n") as [string];
  const isFirst = typeof says === "string" ? line === says : says.test(line);
  return isFirst && shows.test(report);
}

/** The checks of the command. */
export const DOCTOR_CHECKS: Check[] = [
  ...STATES.map((state): Check => ({
    name: `datasensor-doctor says that ${state.name}`,
    async run(board) {
      const { settings = [], before, after, dropIn, end } = state;
      await using stack = new AsyncDisposableStack();
      stack.defer(() => board.waitForAnswer("200"));
      stack.defer(() => restoreSettings(board));
      if (end) stack.defer(() => board.run(end).then(() => {}));
      if (before) await board.run(before);
      if (dropIn) {
        await edit(board, dropIn, "datasensor-sensor");
        stack.defer(() => revert(board, "datasensor-sensor"));
      }
      await configure(board, ...settings).catch(() => {}); // it cannot start
      if (after) await board.run(after);
      const what = `datasensor-doctor to say ${state.says}`;
      const report = await board.waitFor(
        what,
        () => examine(board),
        (report) => isSaid(report, state),
      );
      // Nothing private
      const name = await board.read("uname -n");
      for (const secret of [name, "10.0.2.", "/home/pi"]) {
        assert(!report.includes(secret), `It shows ${secret}: ${report}`);
      }
      assert(report.split("\n").length <= 24, report);
    },
  })),

  {
    name: "datasensor-doctor works without root, and changes nothing",
    async run(board) {
      const before = await property(board, "InvocationID");
      // "pi" may read the log, "nobody" may not
      for (const user of ["pi", "nobody"]) {
        const command = `sudo -u ${user} datasensor-doctor`;
        const { code, stdout, stderr } = await board.attempt(command);
        assertEquals([code, stderr], [1, ""]);
        assertMatch(stdout, /^No sensor is set/);
      }
      assertEquals(await property(board, "InvocationID"), before);
    },
  },
];
