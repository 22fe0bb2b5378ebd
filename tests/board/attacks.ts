// deno-lint-ignore-file no-console -- the memory taken is a result

// HTTP/2 clients that take memory: on a board, the unit and the service that is
// started by hand stay below a limit, and answer other clients again.

import { assert } from "@std/assert";
import {
  flood,
  Http2Connection,
  NO_WINDOW,
  request,
} from "../helpers/http2.ts";
import { Process } from "../helpers/process.ts";
import { delay } from "../helpers/wait.ts";
import { type Board, WAIT_LIMIT_MS } from "./board.ts";
import { startByHand } from "./executable.ts";
import type { Check } from "./operations.ts";

/** How much memory the service may take, in MB (10^6 bytes). */
const PEAK_LIMIT_MB = 512;

/** How much memory the unit's service may keep once it answers again, in MB. */
const LATER_LIMIT_MB = 128;

/** How long the unit's service may take to give the rest back, in ms. */
const RELEASE_LIMIT_MS = 30_000;

/**
 * How long another client may have to wait after an attack, in ms. An emulated
 * processor reads 12,000 frames a second, a PC's 780,000.
 */
const RECOVERY_LIMIT_MS = 90_000;

/** How long an attack takes, in ms. */
const ATTACK_MS = 8_000;

/** Connections that send empty frames: more would outrun the emulated processor. */
const CONNECTIONS = 2;

/** Connections that refer to the header table. It read those of 40 in up to 73 s. */
const REFERRING_CONNECTIONS = 22;

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
  await delay(ATTACK_MS);
}

const CLIENTS = {
  "empty frames": (port: number) =>
    flood(port, "GET", AbortSignal.timeout(ATTACK_MS), CONNECTIONS),
  "references": (port: number) =>
    Promise.all(Array.from(
      { length: REFERRING_CONNECTIONS },
      () => sendReferences(port).catch(() => {}), // refused
    )),
};

/** Attacks the service, and checks its memory and when it answers again. */
async function attack(
  board: Board,
  name: keyof typeof CLIENTS,
  how: "unit" | "by hand",
): Promise<void> {
  // The memory of each process, since the service may be restarted
  await using sampler = new Process("ssh", [
    "BOARD",
    // echo ends the loop when nobody reads its output
    "while sleep 0.1; do echo; for pid in $(pidof datasensor); do " +
    "grep -E 'VmHWM|VmRSS' /proc/$pid/status; done; done",
  ], { env: board.environment });
  await sampler.waitForMatch(/VmRSS/);
  const memory = (field: string) =>
    Array.from(
      sampler.stdout.matchAll(RegExp(`${field}:\\s+(\\d+) kB`, "g")),
      ([, kilobytes]) => Number(kilobytes) * 1024 / 1e6,
    );
  await CLIENTS[name](board.port(5000));
  const end = performance.now();
  while (!(await board.answer()).startsWith("200")) {
    assert(performance.now() - end < RECOVERY_LIMIT_MS, "It does not recover");
    await delay(500);
  }
  const recovered = performance.now() - end;
  const current = () => memory("VmRSS").at(-1)!;
  // Without the unit's variable for malloc, a board kept 328 of 340 MB
  const isReleased = how === "unit";
  if (isReleased) {
    const limit = performance.now() + RELEASE_LIMIT_MS;
    while (current() > LATER_LIMIT_MB && performance.now() < limit) {
      await delay(100);
    }
  }
  const peak = Math.max(...memory("VmHWM"));
  const later = current();
  console.log(
    `| ${name} | ${board.kind.pages} KB, ${how} | ${peak.toFixed()} MB | ` +
      `${later.toFixed()} MB | ${(recovered / 1000).toFixed(1)} s |`,
  );
  assert(peak <= PEAK_LIMIT_MB, `It took ${peak} MB`);
  if (isReleased) assert(later <= LATER_LIMIT_MB, `It keeps ${later} MB`);
}

/** The checks against hostile clients. */
export const ATTACKS: Check[] = [
  {
    name: "the unit survives empty frames",
    needs: ["an ARM processor"],
    async run(board) {
      await board.run("sudo systemctl restart datasensor");
      await board.waitForAnswer("200");
      await attack(board, "empty frames", "unit");
    },
  },

  {
    name: "the service started by hand survives references",
    needs: ["memory pages of 16 KB"],
    async run(board) {
      await board.run("sudo systemctl stop datasensor");
      await using terminal = await startByHand(board);
      await attack(board, "references", "by hand");
      await terminal.write("\x03");
      await terminal.waitForEnd(WAIT_LIMIT_MS);
    },
  },
];
