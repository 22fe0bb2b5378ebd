// Checks what the README and the guide say about the service, its settings, its
// log and its security. Each check leaves the settings as they were installed.

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { parseAccessLine } from "../helpers/access_line.ts";
import { guide, readme } from "../helpers/guide.ts";
import { HALF_BODY, send } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
import type { Board } from "./board.ts";
import {
  type Checks,
  configure,
  edit,
  journal,
  keepSettings,
  property,
  restoreSettings,
  revert,
  waitOnBoard,
  write,
} from "./operations.ts";

/** A command that asks over IPv6. */
const ASK_IPV6 = "curl -sS http://[::1]:5000/datasensor";

/** The guide's flags, as an example. */
const FLAGS = guide.block("FLAGS=--host ::");

function countRequests(lines: string[]): number {
  return lines.filter((line) => parseAccessLine(line)).length;
}

/** Asserts that flags stop the service permanently, and its status says why. */
async function assertStops(
  board: Board,
  flags: string,
  reason: RegExp,
): Promise<void> {
  await configure(board, `FLAGS=${flags}`);
  await waitOnBoard(async () =>
    await property(board, "ActiveState") === "failed"
  );
  assertEquals(await property(board, "ExecMainStatus"), "2");
  assertEquals(await property(board, "NRestarts"), "0");
  const { stdout } = await board.attempt(guide.block("systemctl status"));
  assertMatch(stdout, reason);
  await restoreSettings(board);
  await board.waitForAnswer("200");
}

/** The checks of the guide's sections "Install it" to "Security". */
export const SERVICE: Checks = {
  async "the README's commands install the package, and the service answers"(
    board,
  ) {
    await board.run("sudo groupdel plugdev"); // other systems do not have it
    await board.runOnOperator(readme.line("scp dist/datasensor_"));
    await board.runOnOperator(readme.line("BOARD sudo apt install"));
    await board.waitForAnswer('200 "Sensor data"');
    for (const unit of ["datasensor", "datasensor-sensor"]) {
      assertEquals(await property(board, "UnitFileState", unit), "enabled");
    }
    await keepSettings(board);
  },

  async "systemd rates the exposure of the service and of the sensor as low"(
    board,
  ) {
    const rate = "systemd-analyze security --no-pager";
    await board.run(`${rate} --threshold=15 datasensor
${rate} --threshold=60 datasensor-sensor`);
  },

  async "systemctl status shows the addresses"(board) {
    const status = await board.run(guide.block("systemctl status"));
    assertMatch(status, /Running on http:\/\/10\.0\.2\.15:5000\/datasensor\n/);
  },

  async "the unit limits descriptors as the README and the guide say, and systemctl show says whether it limits memory"(
    board,
  ) {
    const limit = await property(board, "LimitNOFILE");
    assertMatch(readme.line("ulimit -n"), RegExp(`ulimit -n ${limit};`));
    assertMatch(guide.text, RegExp(`and ${limit} file\\s+descriptors`));
    const answer = await board.read(guide.block("-p MemoryCurrent"));
    const isOn = board.kind.memoryController;
    assertMatch(answer, isOn ? /=\d+$/ : /=\[not set\]$/);
  },

  async "the service is restarted after SIGKILL"(board) {
    const before = await property(board, "MainPID");
    await board.run(`sudo kill -KILL ${before}`);
    await waitOnBoard(async () => await property(board, "NRestarts") === "1");
    await board.waitForAnswer("200");
    assertNotEquals(await property(board, "MainPID"), before);
  },

  async "when memory runs out, the kernel kills the service first, and it is restarted"(
    board,
  ) {
    const larger = 'import time; data = b"x" * 500_000_000; time.sleep(1e6)';
    await board.run(`sudo systemd-run --unit=other python3 -c '${larger}'`);
    const other = await property(board, "MainPID", "other");
    await waitOnBoard(async () =>
      Number(await board.read(`ps -o rss= ${other}`)) * 1024 > 500_000_000
    );
    const before = await property(board, "MainPID");
    const restarts = Number(await property(board, "NRestarts"));
    await board.run("echo f | sudo tee /proc/sysrq-trigger"); // as if it did
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts")) === restarts + 1
    );
    await board.waitForAnswer("200");
    assertNotEquals(await property(board, "MainPID"), before);
    assertEquals(await property(board, "MainPID", "other"), other);
    await board.run("sudo systemctl stop other");
  },

  async "the service stops within 3 s, and has logged every request"(board) {
    const port = board.port(5000);
    const url = `http://127.0.0.1:${port}/datasensor`;
    const ids = Array.from({ length: 100 }, (_, index) => `?id=${index};`);
    using busy = await Deno.connect({ port });
    await send(busy, HALF_BODY);
    for (const id of ids) await (await fetch(url + id)).text();
    await board.run("sudo systemctl stop datasensor");
    assertEquals(await property(board, "Result"), "success");
    const begin = await property(board, "ActiveExitTimestampMonotonic");
    const end = await property(board, "InactiveEnterTimestampMonotonic");
    const seconds = (Number(end) - Number(begin)) / 1e6;
    assert(seconds <= 3, `It took ${seconds} s`);
    const logged = (await journal(board)).map((line) =>
      line.match(/\?id=\d+;/)?.[0]
    ).filter(Boolean);
    assertEquals(logged.sort(), ids.sort());
    await board.run("sudo systemctl start datasensor");
    await board.waitForAnswer("200");
  },

  async "an invalid flag stops the service permanently, and its status says why"(
    board,
  ) {
    await assertStops(board, "--foo", /Unknown flag "--foo"/);
  },

  async "a forbidden --host stops the service permanently, and its status says why"(
    board,
  ) {
    await assertStops(board, "--host 10.9.9.9", /10\.9\.9\.9/);
  },

  async "systemctl start tells of an executable that cannot run"(board) {
    const executable = "/usr/bin/datasensor";
    await board.run(`sudo mv ${executable} executable
sudo install -m 755 /dev/null ${executable}`);
    const { code } = await board.attempt("sudo systemctl restart datasensor");
    await waitOnBoard(async () =>
      (await board.attempt(guide.block("systemctl status"))).stdout
        .includes("203/EXEC")
    );
    await board.run(`sudo mv executable ${executable}`);
    assertEquals(code, 1);
    await board.waitForAnswer("200");
  },

  async "the service is restarted until its port is free"(board) {
    await board.run(`sudo systemctl stop datasensor
sudo systemd-run --unit=other /usr/bin/datasensor --message other`);
    await board.waitForAnswer('200 "other"');
    await board.run("sudo systemctl start datasensor");
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts")) >= 2 &&
      (await journal(board)).some((line) => /port 5000/i.test(line))
    );
    await board.run("sudo systemctl stop other");
    await board.waitForAnswer('200 "Sensor data"');
  },

  async "the guide's flags set the address and the text"(board) {
    assertEquals((await board.attempt(ASK_IPV6)).code, 7); // refused
    await configure(board, FLAGS);
    await board.waitForAnswer('200 "Hello, world"');
    assertEquals(await board.run(ASK_IPV6), '"Hello, world"');
  },

  async "with --host 127.0.0.1, other machines get no answer"(board) {
    await configure(board, FLAGS.replace("::", "127.0.0.1"));
    const ask = ASK_IPV6.replace("[::1]", "127.0.0.1");
    await waitOnBoard(async () =>
      (await board.attempt(ask)).stdout === '"Hello, world"'
    );
    assertEquals(await board.answer(), "no answer");
  },

  async "the service listens on port 80 only after the guide's sysctl command, and after a reboot"(
    board,
  ) {
    await configure(board, "FLAGS=--port 80");
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts")) > 0
    );
    assertEquals(await board.answer(80), "no answer");
    await board.run(guide.block("sysctl"));
    await board.waitForAnswer("200", 80);
    await board.reboot();
    await board.waitForAnswer("200", 80);
    await restoreSettings(board);
    await board.waitForAnswer("200");
  },

  async "the guide's commands show the log, and its drop-in keeps only warnings"(
    board,
  ) {
    const env = board.environment;
    const command = guide.line("# follow new lines");
    await using follower = new Process("ssh", ["BOARD", command], { env });
    await follower.waitFor(async () => {
      await board.answer();
      return follower.stdout.includes("GET /datasensor");
    });
    assertMatch(await board.run(guide.line("# size")), /take up .*M in the/);

    await configure(board, "FLAGS=--stdin --json");
    await edit(board, guide.block("LogLevelMax=notice"));
    await board.waitForAnswer("503");
    const before = await journal(board);
    await write(board, "oops");
    await waitOnBoard(async () =>
      (await board.run(guide.line("# warnings"))).includes("oops")
    );
    await board.waitForAnswer("503");
    const after = await journal(board);
    assertEquals(countRequests(after), countRequests(before));
    await revert(board);
    await board.waitForAnswer("503");
    assert(countRequests(await journal(board)) > countRequests(after));
    await restoreSettings(board);
    await board.waitForAnswer("200");
  },

  async "only the addresses in IPAddressAllow= can connect"(board) {
    const dropIn = guide.block("IPAddressDeny=any");
    await edit(board, dropIn);
    const ask = "curl -sS --retry 60 --retry-connrefused --retry-delay 1 " +
      "http://127.0.0.1:5000/datasensor";
    assertEquals(await board.run(ask), '"Sensor data"');
    assertEquals(await board.answer(), "no answer");
    await edit(board, dropIn.replace("192.0.2.0/24", "10.0.2.0/24"));
    await board.waitForAnswer("200");
    await revert(board);
    await board.waitForAnswer("200");
  },
};
