// Measures the service on a board, with a client that runs there: a connection through
// ssh would take longer than the service.

import type { Board } from "./board.ts";
import { configure, property, waitForLongRun } from "./operations.ts";

const CLIENT = await Deno.readTextFile(
  new URL("client.pl", import.meta.url),
);

/** How many requests of how many clients are sent to see what they take. */
const REQUESTS = 10_000;
const CLIENTS = 20;

/** Runs the client, as root if what it does needs that, and returns what it prints. */
async function runClient(
  board: Board,
  args: string,
  sudo = "",
): Promise<number[]> {
  await board.run(`cat >client.pl <<'END'\n${CLIENT}END`);
  const printed = await board.read(`${sudo} perl client.pl ${args}`);
  return printed.split(" ").map(Number);
}

/** Returns the resident memory of the service, in MB (10^6 bytes). */
async function residentMemory(board: Board): Promise<number> {
  const pid = await property(board, "MainPID");
  const line = await board.read(`grep VmRSS /proc/${pid}/status`);
  return Math.round(Number(line.match(/(\d+) kB/)![1]) * 1024 / 1e6);
}

/** Returns how many bytes of each of the journal's files are in use, by its id. */
async function journalSizes(board: Board): Promise<Record<string, number>> {
  // The size is where the last object begins
  const script = `for (glob "/*/log/journal/*/*.journal") {
  open my $file, "<", $_ or next;
  read $file, my $header, 144;
  printf "%s %d\\n", unpack "x24 H32 x96 Q<", $header;
}`;
  const printed = await board.read(`sudo journalctl --sync
sudo perl - <<'END'\n${script}\nEND`);
  const lines = printed.split("\n").map((line) => line.split(" "));
  return Object.fromEntries(lines.map(([id, size]) => [id, Number(size)]));
}

/** Returns by how much files have grown. A full journal removes its oldest one. */
function growth(
  before: Record<string, number>,
  after: Record<string, number>,
): number {
  return Object.entries(after)
    .reduce((sum, [id, size]) => sum + size - (before[id] ?? 0), 0);
}

/** What 10,000 requests take. */
export interface Load {
  /** The resident memory before them and after, in MB. */
  readonly idleMb: number;
  readonly loadedMb: number;
  /** How much each leaves in the journal, in KB. */
  readonly journalKb: number;
  readonly requestsPerSecond: number;
}

/** Sends 10,000 requests to the running service. */
export async function measureLoad(board: Board): Promise<Load> {
  const idleMb = await residentMemory(board);
  const sizes = await journalSizes(board);
  const [rate] = await runClient(board, `requests ${REQUESTS} ${CLIENTS}`);
  const loadedMb = await residentMemory(board);
  const grown = growth(sizes, await journalSizes(board));
  const journalKb = grown / REQUESTS / 1000;
  return { idleMb, loadedMb, journalKb, requestsPerSecond: rate! };
}

/** Returns the median and the 99th percentile of the latency for one client, in ms. */
export async function measureLatency(
  board: Board,
): Promise<[p50: number, p99: number]> {
  const [, p50, p99] = await runClient(board, "requests 1000 1");
  return [p50!, p99!];
}

/** Restarts the service, and returns after how many seconds it answers. */
export async function measureStart(board: Board): Promise<number> {
  await board.run("sudo systemctl stop datasensor");
  const [seconds] = await runClient(
    board,
    "answer systemctl start datasensor",
    "sudo",
  );
  return seconds!;
}

/** Kills the service with SIGKILL, and returns after how many seconds it runs again. */
export async function measureRestart(board: Board): Promise<number> {
  await waitForLongRun(board);
  const before = await property(board, "MainPID");
  await board.run(`sudo kill -KILL ${before}`);
  await board.waitFor(
    `another process than ${before}, and the state active`,
    async () => [
      await property(board, "ActiveState"),
      await property(board, "MainPID"),
    ],
    ([state, pid]) => state === "active" && pid !== before,
  );
  const exit = await property(board, "ActiveExitTimestampMonotonic");
  const enter = await property(board, "ActiveEnterTimestampMonotonic");
  await board.waitForAnswer("200");
  return (Number(enter) - Number(exit)) / 1e6;
}

/**
 * Holds more connections than the service has file descriptors for 5 s, and returns after
 * how many seconds another client gets an answer.
 */
export async function measureFlood(board: Board): Promise<number> {
  const limit = Number(await property(board, "LimitNOFILE"));
  const [seconds] = await runClient(board, `flood ${limit + 30}`);
  return seconds!;
}

/** Returns the board's temperature, which the service serves, if the kernel knows it. */
export async function readTemperature(
  board: Board,
): Promise<number | undefined> {
  await configure(
    board,
    "FLAGS=--stdin --json --max-age 15",
    "SENSOR=while :; do /usr/lib/datasensor/board; sleep 1; done",
  );
  const ask = () => board.answer();
  const answer = await board.waitForText("the answer", ask, /^200 {/);
  return JSON.parse(answer.slice(4)).temperature_C;
}
