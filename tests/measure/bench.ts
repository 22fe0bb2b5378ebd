// deno-lint-ignore-file no-console -- the table is for people

// Compares the service with its peers in one run, prints a table and draws
// .bench/speed.svg. Each server runs on the first core, wrk on the second.

import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { CONNECTIONS, drawChart, type Scaling } from "./chart.ts";
import { listPeers, type Peer } from "./peers.ts";
import { Server } from "./server.ts";

const ROUNDS = 21;
const ROUND_SECONDS = 1;
const STARTS = 15;
const SCALED = ["this service", "bare Deno.serve, no log", "nginx, constant"];
const SCALING_ROUNDS = 5; // at each number of connections
const CHART = ".bench/speed.svg";

/** Returns the median with three significant digits, as more would be noise. */
function median(values: number[]): number {
  const middle = values.toSorted((a, b) => a - b)[values.length >> 1]!;
  return Number(middle.toPrecision(3));
}

/** Returns the time until each server's first response, in ms. */
async function measureStarts(peers: Peer[]): Promise<number[]> {
  const starts = peers.map((): number[] => []);
  for (let i = 1; i <= STARTS; i++) {
    console.error(`Start ${i} of ${STARTS}`);
    for (const [index, { command }] of peers.entries()) {
      await using server = await Server.start(command);
      starts[index]!.push(server.startMs);
    }
  }
  return starts.map(median);
}

/** Puts all servers under load in alternating rounds. */
async function measureLoads(peers: Peer[], folder: string) {
  const starts = await measureStarts(peers);
  await using stack = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const { name, command } of peers) {
    const server = await Server.start(command, `${folder}/${name}.log`);
    servers.push(stack.use(server));
  }
  const idle = await Promise.all(servers.map((server) => server.memory()));
  for (let round = 1; round <= ROUNDS; round++) {
    console.error(`Round ${round} of ${ROUNDS}`);
    // In alternating order, so that no server always follows the same one
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      await server.load(ROUND_SECONDS);
    }
  }
  const loaded = await Promise.all(servers.map((server) => server.memory()));
  const [service, bare] = servers;
  const { requests } = service!;
  const lines = await service!.countLines();
  if (lines < requests) throw new Error(`${requests} requests, ${lines} lines`);
  return servers.map(({ loads }, index) => ({
    server: peers[index]!.name,
    "requests/s": median(loads.map(({ speed }) => speed)),
    // Per round, because the machine's speed varies
    "to bare": median(
      loads.map(({ speed }, i) => speed / bare!.loads[i]!.speed),
    ),
    "p50, ms": median(loads.map(({ p50 }) => p50)),
    "p99, ms": median(loads.map(({ p99 }) => p99)),
    "idle, MB": Math.round(idle[index]!),
    "loaded, MB": Math.round(loaded[index]!),
    "start, ms": Math.round(starts[index]!),
  }));
}

async function measureScaling({ name, command }: Peer): Promise<Scaling> {
  const scaling: Scaling = { server: name, speeds: [], memory: [] };
  for (const connections of CONNECTIONS) {
    console.error(`${name}: ${connections} connections`);
    await using server = await Server.start(command);
    for (let round = 0; round < SCALING_ROUNDS; round++) {
      await server.load(ROUND_SECONDS, connections);
    }
    scaling.speeds.push(median(server.loads.map(({ speed }) => speed / 1000)));
    scaling.memory.push(await server.memory());
  }
  return scaling;
}

using folder = await Folder.create();
const peers = await listPeers(folder.path);
const rows = await measureLoads(peers, folder.path);
console.table(rows);
const scaled = peers.filter(({ name }) => SCALED.includes(name));
const scaling = await Array.fromAsync(scaled, measureScaling); // in turn
const date = new Date().toISOString().slice(0, 10);
const { stdout: cores } = await output("nproc", []);
const note = `deno task bench, ${date}, Deno ${Deno.version.deno}, ` +
  `${cores.trim()} cores of ${Deno.build.arch}`;
await Deno.writeTextFile(CHART, drawChart(rows, scaling, note));
console.log(`\nDrew ${CHART}`);
