// deno-lint-ignore-file no-console -- the memory taken is a result

// HTTP/2 clients that take memory: on a board, the unit and the service that is
// started by hand stay below a limit, and soon answer other clients.

import { assert } from "@std/assert";
import { Http2Connection, NO_WINDOW, request } from "../helpers/http2.ts";
import { Process } from "../helpers/process.ts";
import { delay, within } from "../helpers/wait.ts";
import type { Board } from "./board.ts";
import { startByHand } from "./by_hand.ts";
import type { Checks } from "./operations.ts";

/**
 * How much memory the service may take, in MB. It closes all connections at
 * 192 MB, but looks only once a second: peaks of up to 350 MB were measured.
 */
const MEMORY_LIMIT_MB = 512;

/**
 * How long other clients may have to wait after an attack, in ms: twice the 10 s
 * of a real board, since a busy machine emulates one slowly.
 */
const RECOVERY_LIMIT_MS = 20_000;

/** How long an attack may take, in ms. */
const ATTACK_LIMIT_MS = 60_000;

/** How long to hold connections that have sent everything, in ms. */
const HOLD_MS = 15_000;

/** Sends 96 MB of empty DATA frames as the body of a request. */
async function sendEmptyFrames(port: number, method: string): Promise<void> {
  using connection = await Http2Connection.open(port, NO_WINDOW);
  const sent = connection.sendEmptyFrames(method, 10_670_000);
  await within(sent, () => "not all frames are sent", ATTACK_LIMIT_MS)
    .catch(() => {}); // a slow board may not take all of them
}

/** Sends 200 requests, each with many references to the header table. */
async function sendReferences(port: number): Promise<void> {
  using connection = await Http2Connection.open(port, NO_WINDOW);
  const entry = [0x40, 1, "x".charCodeAt(0), 0]; // adds "x:" (RFC 7541, 6.2.1)
  const references = Array.from({ length: 469 }, () => 0xbe);
  const requests = Array.from({ length: 200 }, (_, index) => {
    const first = index === 0 ? entry : [0xbe];
    return request(2 * index + 1, {}, [...first, ...references]);
  });
  await connection.send(...requests)
    .catch(() => {}); // the server has closed the connection
  await delay(HOLD_MS);
}

const CLIENTS: Record<string, (port: number) => Promise<unknown>> = {
  "empty frames of a GET": (port) => sendEmptyFrames(port, "GET"),
  "empty frames of a POST": (port) => sendEmptyFrames(port, "POST"),
  "references to the header table": (port) =>
    Promise.all(Array.from(
      { length: 100 },
      () => sendReferences(port).catch(() => {}), // refused
    )),
};

/** Attacks the service, and checks its memory and the time to recover. */
async function attack(board: Board, name: string, how: string): Promise<void> {
  // The peak memory of each process, since the service may be restarted
  await using sampler = new Process("ssh", [
    "BOARD",
    // echo ends the loop when nobody reads its output
    "while sleep 0.1; do echo; for pid in $(pidof datasensor); do " +
    "grep VmHWM /proc/$pid/status; done; done",
  ], { env: board.environment });
  await sampler.waitFor(() => sampler.stdout.includes("VmHWM"));
  const begin = performance.now();
  await CLIENTS[name]!(board.port(5000));
  const end = performance.now();
  let answer = "";
  while (!answer.startsWith("200")) {
    answer = await board.answer();
    if (performance.now() - end > 3 * RECOVERY_LIMIT_MS) break;
  }
  const recovered = performance.now() - end;
  const peak = Math.max(
    ...Array.from(
      sampler.stdout.matchAll(/(\d+) kB/g),
      ([, kilobytes]) => Number(kilobytes) * 1024 / 1e6,
    ),
  );
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  console.log(
    `| ${name}, ${seconds(end - begin)} | ${board.kind.pages}, ${how} | ` +
      `${peak.toFixed()} MB | ${seconds(recovered)} |`,
  );
  assert(peak <= MEMORY_LIMIT_MB, `It took ${peak} MB`);
  assert(recovered <= RECOVERY_LIMIT_MS, `It took ${seconds(recovered)}`);
}

/** Attacks on the unit's service. */
const ON_UNIT: Checks = Object.fromEntries(
  Object.keys(CLIENTS).map((name) => [
    `the unit survives ${name}`,
    async (board) => {
      await board.run("sudo systemctl restart datasensor");
      await board.waitForAnswer("200");
      await attack(board, name, "unit");
    },
  ]),
);

/** Attacks on the service that is started by hand. */
const ON_PROGRAM: Checks = Object.fromEntries(
  Object.keys(CLIENTS).map((name) => [
    `the service started by hand survives ${name}`,
    async (board) => {
      await board.run("sudo systemctl stop datasensor");
      await using terminal = await startByHand(board);
      await attack(board, name, "by hand");
      await terminal.write("\x03");
      await terminal.waitForEnd();
    },
  ]),
);

/** The checks against hostile clients. */
export const ATTACKS: Checks = { ...ON_UNIT, ...ON_PROGRAM };
