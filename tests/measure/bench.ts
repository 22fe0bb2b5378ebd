// deno-lint-ignore-file no-console -- the table is for people

// Compares the service with a Deno.serve that logs nothing, in one run of about two
// minutes. The server runs on the first core, and Debian's wrk, with 50 connections, on the
// second. Fails if the service did not log every request, or if its memory or descriptors
// have grown.
//
// Compare ratios within one run only. The speed of a process differs by up to 8 % from that
// of the next one that runs the same program, for as long as it runs. Therefore, each
// server is started several times, in turn, and the figures are medians of the starts.

import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { programCommand } from "../helpers/program.ts";
import { countDescriptors, residentMemory } from "../helpers/resources.ts";
import { waitFor } from "../helpers/wait.ts";
import { Server } from "./server.ts";

const STARTS = 8; // of each server
const ROUNDS = 4; // of a start; the first one warms it up
const ROUND_SECONDS = 1;
const MEMORY_GROWTH_LIMIT = 1.1; // of the last round to the first

/** A server, and the command that makes it listen on a port. */
interface Peer {
  name: string;
  command: (port: string) => string[];
}

/** What is measured of one start. */
interface Figures {
  speed: number;
  p99: number;
  idle: number;
  loaded: number;
  startMs: number;
}

/** Answers like the service, and logs nothing. */
const BARE = `Deno.serve(
  { port: Number(Deno.args[0]), hostname: "0.0.0.0", onListen() {} },
  () => new Response('"Sensor data"', { headers: {
    "cache-control": "no-store", "x-content-type-options": "nosniff",
    "content-type": "application/json",
  } }),
);`;

/** Returns what is compared, the bare server first. A sensor prints to the last one. */
async function createPeers(folder: string): Promise<Peer[]> {
  const bare = `data:text/javascript,${encodeURIComponent(BARE)}`;
  const service = (port: string, ...flags: string[]) =>
    programCommand(["--port", port, ...flags]).flat();
  const fifo = `${folder}/sensor`;
  await output("mkfifo", [fifo]);
  const file = await Deno.open(fifo, { read: true, write: true });
  const reading = new TextEncoder().encode("Sensor data\n");
  Deno.unrefTimer(setInterval(() => file.writeSync(reading), 100));
  const withSensor = ["sh", "-c", 'exec "$@" <>"$0"', fifo];
  return [
    {
      name: "Deno.serve without a log",
      command: (port) => [Deno.execPath(), "run", "-N", bare, port],
    },
    { name: "this service", command: (port) => service(port) },
    {
      name: "this service, --stdin",
      command: (port) => [...withSensor, ...service(port, "--stdin")],
    },
  ];
}

/** Starts a server, puts it under load and stops it. */
async function measure(peer: Peer, folder: string): Promise<Figures> {
  const log = `${folder}/log`;
  await Deno.writeTextFile(log, "");
  await using server = await Server.start(peer.command, log);
  const idle = await residentMemory(server.pid);
  const idleDescriptors = await countDescriptors(server.pid);
  const loaded: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await server.load(ROUND_SECONDS);
    loaded.push(await residentMemory(server.pid));
  }
  if (peer.name.startsWith("this service")) {
    const growth = loaded.at(-1)! / loaded[0]!;
    if (growth > MEMORY_GROWTH_LIMIT) throw new Error(`Memory grew: ${loaded}`);
    const open = () => countDescriptors(server.pid);
    await waitFor("no more open files", open, (it) => it <= idleDescriptors);
    const missing = server.requests - await server.countLines();
    if (missing > 0) throw new Error(`${missing} lines are missing`);
  }
  const loads = server.loads.slice(1);
  return {
    speed: median(loads.map(({ speed }) => speed)),
    p99: median(loads.map(({ p99 }) => p99)),
    idle,
    loaded: loaded.at(-1)!,
    startMs: server.startMs,
  };
}

/** Returns the median, of an even number of values the mean of both in the middle. */
function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1]!;
  const lower = sorted[(sorted.length - 1) >> 1]!;
  return (lower + upper) / 2;
}

/** Rounds to three significant digits, as more would be noise. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}

using folder = await Folder.create();
const peers = await createPeers(folder.path);
const all = peers.map((): Figures[] => []);
for (let start = 1; start <= STARTS; start++) {
  console.error(`Start ${start} of ${STARTS}`);
  for (const [index, peer] of peers.entries()) {
    all[index]!.push(await measure(peer, folder.path));
  }
}
const bareSpeed = median(all[0]!.map(({ speed }) => speed));
console.table(peers.map(({ name }, index) => {
  const of = (figure: keyof Figures) => all[index]!.map((it) => it[figure]);
  const ratios = of("speed").map((speed) => speed / bareSpeed);
  return {
    server: name,
    "requests/s": round(median(of("speed"))),
    "to the first": round(median(ratios)),
    "slowest": round(Math.min(...ratios)),
    "fastest": round(Math.max(...ratios)),
    "p99, ms": round(median(of("p99"))),
    "idle, MB": Math.round(median(of("idle"))),
    "loaded, MB": Math.round(median(of("loaded"))),
    "start, ms": Math.round(median(of("startMs"))),
  };
}));
