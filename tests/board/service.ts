// Checks what the guide says about the service. A drop-in, once edited, stays
// until another check replaces or removes it.

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { HALF_BODY, send } from "../helpers/network.ts";
import { Process } from "../helpers/process.ts";
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

function countRequests(lines: string[]): number {
  return lines.filter((line) => line.includes("HTTP/1.1")).length;
}

/** Returns the guide's drop-in for IPv6, with other flags. */
function dropInWith(flags: string): string {
  return guide.block("FLAGS=--host ::").replace("--host ::", flags);
}

/** Asserts that flags stop the service permanently, and its status says why. */
async function assertStops(
  board: Board,
  flags: string,
  reason: RegExp,
): Promise<void> {
  await edit(board, dropInWith(flags));
  await waitOnBoard(async () =>
    await property(board, "ActiveState") === "failed"
  );
  assertEquals(await property(board, "ExecMainStatus"), "2");
  assertEquals(await property(board, "NRestarts"), "0");
  const { stdout } = await board.attempt(guide.block("systemctl status"));
  assertMatch(stdout, reason);
}

/** The check that comes last. */
export const REMOVAL: Checks = {
  async "the guide's commands remove the service"(board) {
    await board.run("sudo systemctl start datasensor");
    await board.run(guide.block("sudo rm -r /etc/systemd/system/datasensor"));
    assertEquals(await board.answer(), "no answer");
    const { stdout } = await board.attempt("systemctl cat datasensor");
    assertEquals(stdout, "");
    await board.run("test ! -e /usr/local/bin/datasensor");
  },
};

/** The checks of the guide's section "Run it as a service". */
export const SERVICE: Checks = {
  async "the guide's commands install and start the service"(board) {
    await board.runOnOperator(guide.block("scp -r"));
    await board.run(guide.block("enable --now datasensor"));
    await board.waitForAnswer('200 "Sensor data"');
    assertEquals(await property(board, "UnitFileState"), "enabled");
  },

  async "systemd rates the service's exposure at 1.5 of 10 or less"(board) {
    await board.run("systemd-analyze security --threshold=15 datasensor");
  },

  async "systemctl status shows the addresses"(board) {
    const status = await board.run(guide.block("systemctl status"));
    assertMatch(status, /Running on http:\/\/10\.0\.2\.15:5000\/datasensor\n/);
  },

  async "systemctl show says whether the memory controller is on"(board) {
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

  async "the guide's commands update the executable"(board) {
    const before = await board.read("stat -c %i /usr/local/bin/datasensor");
    await board.run(
      guide.block(
        "datasensor.service /etc/systemd/system/\nsudo systemctl daemon",
      ),
    );
    await board.waitForAnswer("200");
    const pid = await property(board, "MainPID");
    const running = await board.read(`sudo stat -Lc %i /proc/${pid}/exe`);
    const installed = await board.read("stat -c %i /usr/local/bin/datasensor");
    assertEquals(running, installed);
    assertNotEquals(running, before);
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
    await removeDropIn(board);
    await board.waitForAnswer("200");
  },

  async "the service is restarted until its port is free"(board) {
    await board.run(`sudo systemctl stop datasensor
sudo systemd-run --unit=other /usr/local/bin/datasensor --message other`);
    await board.waitForAnswer('200 "other"');
    await board.run("sudo systemctl start datasensor");
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts")) >= 2 &&
      (await journal(board)).some((line) => /port 5000/i.test(line))
    );
    await board.run("sudo systemctl stop other");
    await board.waitForAnswer('200 "Sensor data"');
  },

  async "the guide's drop-in adds a flag"(board) {
    const ask = "curl -sS http://[::1]:5000/datasensor";
    assertEquals((await board.attempt(ask)).code, 7); // refused
    await edit(board, guide.block("FLAGS=--host ::"));
    await board.waitForAnswer("200");
    assertEquals(await board.run(ask), '"Sensor data"');
  },

  async "the guide's drop-in sets several flags"(board) {
    await edit(board, guide.block("--message 'Hello, world'"));
    const ask = "curl -sS http://127.0.0.1:5000/datasensor";
    await waitOnBoard(async () =>
      (await board.attempt(ask)).stdout === '"Hello, world"'
    );
    assertEquals(await board.answer(), "no answer"); // to another machine
  },

  async "the guide's drop-in for port 80 works only after its sysctl command"(
    board,
  ) {
    await edit(board, guide.block("--port 80"));
    await waitOnBoard(async () =>
      Number(await property(board, "NRestarts")) > 0
    );
    assertEquals(await board.answer(80), "no answer");
    await board.run(guide.block("sysctl"));
    await board.waitForAnswer("200", 80);
  },

  async "the service still answers on port 80 after a reboot"(board) {
    await board.reboot();
    await board.waitForAnswer("200", 80);
    await removeDropIn(board);
    await board.waitForAnswer("200");
  },

  async "the guide's commands show the log, and its drop-in turns it off"(
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

    await edit(board, guide.block("StandardOutput=null"));
    const before = await journal(board);
    await board.waitForAnswer("200");
    const after = await journal(board);
    assertEquals(countRequests(after), countRequests(before));
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
    await removeDropIn(board);
    await board.waitForAnswer("200");
  },
};
