// deno-lint-ignore-file no-console -- the table is for people

// Compares the service with its peers in one run, prints a table and draws
// tests/measure/speed.svg. Each server runs on the first core, wrk on the second.
//
// The speed of a process differs by up to 8 % from that of the next one that runs the
// same program, for as long as it runs. Therefore, each server is started several times.

import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { createRandom, SEED } from "../helpers/random.ts";
import { CONNECTIONS, drawChart, type Scaling } from "./chart.ts";
import { BARE, listPeers, type Peer } from "./peers.ts";
import { Server } from "./server.ts";

const STARTS = 8; // of each server
const ROUNDS = 3; // of a start, after one that warms it up
const ROUND_SECONDS = 1;
const SCALED = ["this service", BARE, "nginx, constant"];
const SCALING_ROUNDS = 5; // at each number of connections
const CHART = "tests/measure/speed.svg";

/** What is measured of one process. */
interface Start {
  speed: number;
  p50: number;
  p99: number;
  idle: number;
  loaded: number;
  startMs: number;
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

/**
 * Starts a server, puts it under load and stops it.
 *
 * @throws {Error} If it is the service, and has not logged every request.
 */
async function measureStart(peer: Peer, folder: string): Promise<Start> {
  const log = `${folder}/log`;
  await Deno.writeTextFile(log, "");
  await using server = await Server.start(peer.command, log);
  const idle = await server.memory();
  for (let load = 0; load <= ROUNDS; load++) await server.load(ROUND_SECONDS);
  const loaded = await server.memory();
  const loads = server.loads.slice(1);
  if (peer.name === "this service") {
    const { requests } = server;
    const lines = await server.countLines();
    if (lines < requests) {
      throw new Error(`${requests} requests, ${lines} lines`);
    }
  }
  return {
    speed: median(loads.map(({ speed }) => speed)),
    p50: median(loads.map(({ p50 }) => p50)),
    p99: median(loads.map(({ p99 }) => p99)),
    idle,
    loaded,
    startMs: server.startMs,
  };
}

/** Starts all servers several times, each time in a random order. */
async function measureAll(peers: Peer[], folder: string): Promise<Start[][]> {
  const random = createRandom(SEED);
  const all = peers.map((): Start[] => []);
  for (let start = 1; start <= STARTS; start++) {
    console.error(`Start ${start} of ${STARTS}`);
    const order = peers.map((peer, index) => ({ peer, index, at: random() }))
      .toSorted((a, b) => a.at - b.at);
    for (const { peer, index } of order) {
      all[index]!.push(await measureStart(peer, folder));
    }
  }
  return all;
}

/** Returns a row of the table for each server. */
function summarize(peers: Peer[], all: Start[][]) {
  const speedOf = (name: string) => {
    const index = peers.findIndex((peer) => peer.name === name);
    return median(all[index]!.map(({ speed }) => speed));
  };
  return peers.map(({ name, bare, deno }, index) => {
    const starts = all[index]!;
    const of = (figure: keyof Start) =>
      starts.map(({ [figure]: value }) => value);
    const bareSpeed = speedOf(bare);
    const ratios = of("speed").map((speed) => speed / bareSpeed);
    return {
      server: name,
      "Deno": deno ?? "",
      "requests/s": round(median(of("speed"))),
      "to bare": round(median(ratios)),
      "bare server": bare,
      "slowest start": round(Math.min(...ratios)),
      "fastest start": round(Math.max(...ratios)),
      "p50, ms": round(median(of("p50"))),
      "p99, ms": round(median(of("p99"))),
      "idle, MB": Math.round(median(of("idle"))),
      "loaded, MB": Math.round(median(of("loaded"))),
      "start, ms": Math.round(median(of("startMs"))),
    };
  });
}

async function measureScaling({ name, command }: Peer): Promise<Scaling> {
  const scaling: Scaling = { server: name, speeds: [], memory: [] };
  for (const connections of CONNECTIONS) {
    console.error(`${name}: ${connections} connections`);
    await using server = await Server.start(command);
    for (let round = 0; round < SCALING_ROUNDS; round++) {
      await server.load(ROUND_SECONDS, connections);
    }
    const speeds = server.loads.map(({ speed }) => speed / 1000);
    scaling.speeds.push(round(median(speeds)));
    scaling.memory.push(await server.memory());
  }
  return scaling;
}

using folder = await Folder.create();
const peers = await listPeers(folder.path);
const rows = summarize(peers, await measureAll(peers, folder.path));
console.table(rows);
const scaled = peers.filter(({ name }) => SCALED.includes(name));
const scaling = await Array.fromAsync(scaled, measureScaling); // in turn
const date = new Date().toISOString().slice(0, 10);
const { stdout: cores } = await output("nproc", []);
const denos = Object.entries(Object.groupBy(peers, ({ deno }) => deno ?? ""))
  .filter(([deno]) => deno !== "")
  .map(([deno, rows]) =>
    `Deno ${deno}: ${rows!.map(({ name }) => name).join("; ")}`
  );
const withTime = peers.filter(({ name, bare }) => ![BARE, name].includes(bare))
  .map(({ name }) => name).join("; ");
const notes = [
  `deno task bench, ${date}, ${cores.trim()} cores of ${Deno.build.arch}, ` +
  `medians of ${STARTS} starts, and the slowest to the fastest start`,
  `Compared with the bare server that sends Last-Modified, as they do: ${withTime}`,
  ...denos,
];
await Deno.writeTextFile(CHART, drawChart(rows, scaling, notes));
console.log(`\nDrew ${CHART}`);
