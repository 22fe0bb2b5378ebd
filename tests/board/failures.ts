// Checks what clients and the operator see when something fails: what is served stays
// true, and all of it is back without a hand.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { guide } from "../helpers/guide.ts";
import { createRandom, SEED } from "../helpers/random.ts";
import { delay } from "../helpers/wait.ts";
import type { Board } from "./board.ts";
import {
  type Check,
  configure,
  property,
  waitForState,
  write,
} from "./operations.ts";
import { assertInstalled, install, installed } from "./updates.ts";

const MAX_AGE_S = 15;

/** Settings with a sensor that reads for how long the board has been up, in s. */
const SETTINGS = [
  `FLAGS=--stdin --json --max-age ${MAX_AGE_S}`,
  "SENSOR=while cut -d ' ' -f 1 /proc/uptime; do sleep 1; done",
];

/**
 * How long ssh may take to read for how long the board has been up, in s: on a busy
 * machine, an emulated board takes seconds for each command.
 */
const SSH_S = 20;

/**
 * How much too large the age of a reading may be, in s: both dates are whole seconds,
 * and Deno's Date lags by up to one.
 */
const AGE_TOLERANCE_S = 2;

/** How often the power is cut, besides that while the package is installed. */
const CUTS = 2;

/** How long the board may run between two cuts, in ms. A boot takes 15 to 40 s. */
const LONGEST_RUN_MS = 30_000;

/** How long dpkg takes, in ms. */
const LONGEST_INSTALLATION_MS = 15_000;

/** The network card of the board. */
const CARD = "$(ip -o -4 address show scope global | awk '{ print $2 }')";

/** The guide's command that repairs an installation. */
const [REPAIR] = guide.match(/sudo dpkg -i [^`]+/);

/** Waits for a reading, and asserts that it is not older than it may be. */
async function assertCurrent(board: Board): Promise<void> {
  const ask = () => board.answer();
  const answer = await board.waitForText("the answer", ask, /^200/);
  const uptime = Number(await board.read("cut -d ' ' -f 1 /proc/uptime"));
  const age = uptime - Number(answer.slice(4));
  assert(age >= 0 && age < MAX_AGE_S + SSH_S, `${answer}, ${age} s old`);
}

/** Makes the service serve that sensor, unless it does. */
async function serveUptime(board: Board): Promise<void> {
  const sensor = SETTINGS.at(-1)!;
  const now = await board.read("tail -n 1 /etc/default/datasensor");
  if (now !== sensor) await configure(board, ...SETTINGS);
  await assertCurrent(board);
}

/** Asserts that what is done to the board ends neither the service nor the sensor. */
async function assertSurvives(
  board: Board,
  act: () => Promise<unknown>,
): Promise<void> {
  await serveUptime(board);
  const pids = () =>
    Promise.all(
      ["datasensor", "datasensor-sensor"]
        .map((unit) => property(board, "MainPID", unit)),
    );
  const before = await pids();
  await act();
  await assertCurrent(board);
  assertEquals(await pids(), before);
}

/** Waits until a request is in the log, and returns its line there. */
async function waitForRequest(board: Board, id: string): Promise<string> {
  const line = RegExp(`.*\\?${id} .*`);
  const read = () =>
    board.read(
      `curl -s http://127.0.0.1:5000/datasensor?${id} >answer || true
sudo journalctl --sync || true # fails until a journald that was killed is back
journalctl -u datasensor -n 20 -o cat`,
    );
  const lines = await board.waitForText("the log", read, line);
  return lines.match(line)![0];
}

/** Returns the dates of an answer, in s, and the time when it came. */
async function getDates(board: Board) {
  const url = `http://127.0.0.1:${board.port(5000)}/datasensor`;
  const { headers, body } = await fetch(url);
  await body?.cancel();
  const seconds = (field: string) => Date.parse(headers.get(field)!) / 1000;
  return {
    date: seconds("Date"),
    lastModified: seconds("Last-Modified"),
    now: performance.now() / 1000,
  };
}

/** The checks of failures. */
export const FAILURES: Check[] = [
  {
    name:
      "the service and the sensor start after a reboot, without a network too",
    async run(board) {
      await serveUptime(board);
      await board.run(`sudo tee /etc/systemd/system/hold.service <<'END'
[Unit]
Before=network-online.target
[Service]
Type=oneshot
ExecStart=sleep infinity
END
sudo systemctl add-wants multi-user.target network-online.target hold.service`);
      await board.rebootUntilSsh();
      await assertCurrent(board);
      assertEquals(await property(board, "ActiveState", "hold"), "activating");
      await board.run(`sudo systemctl stop hold
sudo rm /etc/systemd/system/hold.service
sudo rm /etc/systemd/system/multi-user.target.wants/{hold.service,network-online.target}
sudo systemctl daemon-reload`);
    },
  },

  {
    name: "when journald is killed, readings go on, and the log soon does",
    async run(board) {
      await assertSurvives(board, async () => {
        await board.run("sudo systemctl kill -s KILL systemd-journald");
        await waitForRequest(board, "killed");
      });
    },
  },

  {
    name: "when the network is gone and comes back, so does the service",
    async run(board) {
      await assertSurvives(board, async () => {
        // It begins when ssh has ended, and outlasts a request (REQUEST_TIMEOUT_MS)
        const outage =
          "sleep 1; ip link set $0 down; sleep 8; ip link set $0 up";
        await board.run(`sudo systemd-run sh -c '${outage}' ${CARD}`);
        await board.waitForAnswer("no answer");
      });
    },
  },

  {
    name: "a new time zone changes no reading",
    async run(board) {
      await assertSurvives(board, async () => {
        await board.run("sudo timedatectl set-timezone Asia/Tokyo");
        const { date } = await getDates(board);
        const clock = Number(await board.read("date +%s"));
        assert(Math.abs(clock - date) < SSH_S, `Date is ${date}, not ${clock}`);
      });
      await board.run("sudo systemctl restart datasensor"); // as the guide says
      const begin = await board.read("date +%H");
      const line = await waitForRequest(board, "tokyo");
      const hours = [begin, await board.read("date +%H")];
      assert(hours.some((hour) => line.includes(` ${hour}:`)), line);
      await board.run("sudo timedatectl set-timezone Etc/UTC");
    },
  },

  {
    name: "on a full disk, readings go on, and a restart answers",
    async run(board) {
      await assertSurvives(board, async () => {
        await board.attempt(
          `sudo fallocate -l $(($(stat -fc '%f * %S' /))) /full`,
        );
        const { stderr } = await board.attempt(
          "sudo dd if=/dev/zero of=/rest bs=64k",
        );
        assertMatch(stderr, /No space left on device/);
      });
      await board.run("sudo systemctl restart datasensor");
      await assertCurrent(board);
      await waitForState(board, "active");
      await board.run("sudo rm /full /rest");
    },
  },

  {
    name:
      "when the root file system becomes read-only, readings go on, and a restart answers",
    needs: ["a kernel of its own"],
    async run(board) {
      await assertSurvives(board, async () => {
        await board.run("echo u | sudo tee /proc/sysrq-trigger");
        assertEquals((await board.attempt("sudo touch /more")).code, 1);
      });
      await board.run("sudo systemctl restart datasensor");
      await assertCurrent(board);
      await board.run("sudo mount -o remount,rw /");
    },
  },

  {
    name: "when the clock is set, the age of a reading stays true",
    needs: ["a clock that may be set"],
    async run(board) {
      await configure(board, "FLAGS=--stdin --json", "SENSOR=sleep infinity");
      await board.waitForAnswer("503");
      const begin = performance.now() / 1000;
      await write(board, "21.5");
      const end = performance.now() / 1000;
      await board.waitForAnswer("200 21.5");
      const now = Number(await board.read("date +%s"));
      for (const days of [0, 30, -30]) {
        await board.run(`sudo date -s "${days} days"`);
        const before = performance.now() / 1000;
        const { date, lastModified, now } = await getDates(board);
        const clock = Number(await board.read("date +%s"));
        assert(lastModified <= clock, "Last-Modified is in the future");
        const age = date - lastModified;
        if (days < 0) continue; // Deno's Date stands still
        const least = before - end - AGE_TOLERANCE_S;
        const most = now - begin + AGE_TOLERANCE_S;
        assert(age >= Math.max(0, least) && age <= most, `It is ${age} s old`);
      }
      await board.run(`sudo date -s @${now}
sudo systemctl restart datasensor`);
    },
  },

  {
    name:
      `when the power is cut ${CUTS} times, the service answers at last (DATASENSOR_SEED=${SEED})`,
    needs: ["a power switch"],
    async run(board) {
      await serveUptime(board);
      const random = createRandom(SEED);
      for (let cut = 0; cut < CUTS; cut++) {
        await delay(random() * LONGEST_RUN_MS); // many are while it boots
        await board.cutPower();
      }
      await board.waitUntilUp();
      await assertCurrent(board);
      await waitForState(board, "active");
    },
  },

  {
    name:
      "when the power is cut while the package is installed, one command repairs it",
    needs: ["a power switch"],
    async run(board) {
      await serveUptime(board);
      const { older, newer } = board.packages;
      const name = await installed(board) === older ? newer : older;
      const installation = install(board, name).catch(() => {});
      const find = async () => (await board.attempt("pgrep -x dpkg")).stdout;
      await board.waitFor("dpkg to run", find);
      const moment = createRandom(SEED + 1)() * LONGEST_INSTALLATION_MS;
      await delay(moment);
      await board.cutPower();
      await board.waitUntilUp();
      await installation;
      if ((await board.answer()).startsWith("200")) await assertCurrent(board);
      await board.runOnOperator(`scp dist/${name} BOARD:datasensor.deb`);
      await board.run(REPAIR);
      await assertCurrent(board);
      await assertInstalled(board, name);
      assertEquals(await board.read("sudo dpkg --audit"), "");
    },
  },
];
