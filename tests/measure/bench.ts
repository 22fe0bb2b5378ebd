// Compares the service with its peers in one run, prints a table and draws
// .bench/speed.svg. Each server runs on the first core, wrk on the second.

import { residentMemory } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { DEADLINE_MS, delay } from "../helpers/wait.ts";
import { drawChart } from "./chart.ts";
import {
  type Load,
  load,
  print,
  printProgress,
  requireWrk,
  Sensor,
} from "./load.ts";
import { listServers, type Server } from "./peers.ts";

const ROUNDS = 21;
const ROUND_SECONDS = 1;
const STARTS = 15;
const CONNECTIONS = [1, 10, 100, 1000];
const CONNECTION_ROUNDS = 5;
const CHART = ".bench/speed.svg";

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** A started server. */
class Running implements AsyncDisposable {
  readonly loads: Load[] = [];

  private constructor(
    readonly program: Program,
    readonly url: string,
    /** The time until its first response. */
    readonly startMs: number,
  ) {}

  /** Starts a server that logs to a file, and waits for its first response. */
  static async start({ command }: Server, log: string): Promise<Running> {
    const port = freePort();
    const url = `http://127.0.0.1:${port}/datasensor`;
    const begin = performance.now();
    // Some log to standard error
    const pinned = ["sh", "-c", 'exec taskset -c 0 "$@" 2>&1', "sh"];
    const program = Program.appendingTo(log, [...pinned, ...command(port)]);
    for (;;) {
      try {
        await (await fetch(url)).body?.cancel();
        return new Running(program, url, performance.now() - begin);
      } catch (error) {
        if (performance.now() > begin + DEADLINE_MS) throw error;
        await delay(0); // it does not listen yet
      }
    }
  }

  /** Returns the resident memory of the process and its children, in MB. */
  async memory(): Promise<number> {
    const { stdout } = await output("pgrep", ["-P", `${this.program.pid}`]);
    const children = stdout.split("\n").filter(Boolean).map(Number);
    const processes = [this.program.pid, ...children];
    const figures = await Promise.all(processes.map(residentMemory));
    return figures.reduce((sum, figure) => sum + figure);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program.stop();
  }
}

/** Returns the time until each server's first response, in ms. */
async function measureStarts(servers: Server[]): Promise<number[]> {
  const starts = servers.map((): number[] => []);
  for (let i = 1; i <= STARTS; i++) {
    printProgress(`Start ${i} of ${STARTS}`);
    for (const [index, server] of servers.entries()) {
      await using running = await Running.start(server, "/dev/null");
      starts[index]!.push(running.startMs);
    }
  }
  return starts.map(median);
}

/**
 * Puts all servers under load in alternating rounds.
 *
 * @throws {Error} If the service did not log every request.
 */
async function measureLoads(servers: Server[], folder: string) {
  await using stack = new AsyncDisposableStack();
  const all: Running[] = [];
  const idle: number[] = [];
  const logOf = (index: number) => `${folder}/${index}.log`;
  for (const [index, server] of servers.entries()) {
    const running = stack.use(await Running.start(server, logOf(index)));
    all.push(running);
    idle.push(await running.memory());
  }
  for (let round = 1; round <= ROUNDS; round++) {
    printProgress(`Round ${round} of ${ROUNDS}`);
    // Back and forth, so that no server always follows the same one
    for (const { url, loads } of round % 2 === 0 ? all : all.toReversed()) {
      loads.push(await load(url, ROUND_SECONDS));
    }
  }
  const loaded = await Promise.all(all.map((running) => running.memory()));
  await stack.disposeAsync();
  const sent = all[0]!.loads.reduce((sum, { requests }) => sum + requests, 0);
  const lines = (await Deno.readTextFile(logOf(0))).match(/ 200 -\n/g)!.length;
  if (lines < sent) throw new Error(`${sent} requests, ${lines} lines`);
  const bare = all[1]!.loads;
  return all.map(({ loads }, index) => ({
    name: servers[index]!.name,
    requestsPerSecond: median(loads.map((load) => load.requestsPerSecond)),
    // The share of bare Deno.serve, round by round: the machine changes
    toBare: median(
      loads.map((load, round) =>
        load.requestsPerSecond / bare[round]!.requestsPerSecond
      ),
    ),
    p50: median(loads.map(({ p50 }) => p50)),
    p99: median(loads.map(({ p99 }) => p99)),
    idle: idle[index]!,
    loaded: loaded[index]!,
  }));
}

/** Measures servers at each number of connections. */
async function measureConnections(servers: Server[]) {
  const results = servers.map(({ name }) => ({
    name: name.split(/ Deno|,/, 1)[0]!,
    kilorequests: [] as number[],
    memory: [] as number[],
  }));
  for (const connections of CONNECTIONS) {
    printProgress(`${connections} connections`);
    for (const [index, server] of servers.entries()) {
      await using running = await Running.start(server, "/dev/null");
      for (let round = 0; round < CONNECTION_ROUNDS; round++) {
        const { url, loads } = running;
        loads.push(await load(url, ROUND_SECONDS, connections));
      }
      const speeds = running.loads.map((load) => load.requestsPerSecond);
      results[index]!.kilorequests.push(median(speeds) / 1000);
      results[index]!.memory.push(await running.memory());
    }
  }
  return results;
}

function printTable(
  results: Awaited<ReturnType<typeof measureLoads>>,
  starts: number[],
): void {
  print(
    "| server | requests/s | to bare | p50, ms | p99, ms | idle, MB | " +
      "loaded, MB | start, ms |\n|---|--:|--:|--:|--:|--:|--:|--:|",
  );
  for (const [index, result] of results.entries()) {
    const columns = [
      result.name,
      result.requestsPerSecond.toFixed(0),
      result.toBare.toFixed(2),
      result.p50.toFixed(2),
      result.p99.toFixed(2),
      result.idle.toFixed(0),
      result.loaded.toFixed(0),
      starts[index]!.toFixed(0),
    ];
    print(`| ${columns.join(" | ")} |`);
  }
}

await requireWrk();
const folder = await Deno.makeTempDir();
await Deno.chmod(folder, 0o755); // for nginx, which reads as nobody
const sensor = await Sensor.create(`${folder}/sensor`);
try {
  const servers: Server[] = [];
  for (const server of listServers(folder, sensor.read)) {
    const { code } = await output("sh", ["-c", server.installed]);
    if (code === 0) servers.push(server);
    else print(`Not installed: ${server.name}`);
  }
  const starts = await measureStarts(servers);
  const results = await measureLoads(servers, folder);
  printTable(results, starts);
  const compared = [
    "this service",
    "bare Deno.serve, no log",
    "nginx, constant",
  ];
  const scaling = await measureConnections(
    servers.filter(({ name }) => compared.includes(name)),
  );
  const date = new Date().toISOString().slice(0, 10);
  const { stdout: cores } = await output("nproc", []);
  const machine = `${cores.trim()} cores of ${Deno.build.arch}`;
  const chart = drawChart(
    [{
      title: "Throughput (bare = 1)",
      bars: results.map(({ name, toBare }) => (
        { name, value: toBare, text: toBare.toFixed(2) }
      )),
    }, {
      title: "99th percentile of the latency, ms",
      bars: results.map(({ name, p99 }) => (
        { name, value: p99, text: p99.toFixed(1) }
      )),
    }],
    [{
      title: "Throughput, 1,000 requests/s",
      connections: CONNECTIONS,
      lines: scaling.map(({ name, kilorequests }) => (
        { name, values: kilorequests }
      )),
    }, {
      title: "Memory after the load, MB",
      connections: CONNECTIONS,
      lines: scaling.map(({ name, memory }) => ({ name, values: memory })),
    }],
    `deno task bench, ${date}, Deno ${Deno.version.deno}, ${machine}`,
  );
  await Deno.mkdir(".bench", { recursive: true });
  await Deno.writeTextFile(CHART, chart);
  print(`\nDrew ${CHART}`);
} finally {
  sensor[Symbol.dispose]();
  await Deno.remove(folder, { recursive: true });
}
