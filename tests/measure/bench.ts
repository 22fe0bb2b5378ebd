// deno-lint-ignore-file no-console -- the table is for people

// Compares the service with a Deno.serve that logs nothing, in about two minutes. The
// server runs on the first core, and Debian's wrk, with 50 connections, on the second.
//
// Compare figures of one run only. The speed of a process differs by up to 8 % from that of
// the next one that runs the same program, for as long as it runs. Therefore, the servers
// are started several times, in turn, and the figures are medians of the starts.

import { Folder } from "../helpers/files.ts";
import { exchange, LAST_GET } from "../helpers/network.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { programCommand } from "../helpers/program.ts";
import { residentMemory } from "../helpers/resources.ts";
import { waitFor } from "../helpers/wait.ts";

const STARTS = 7; // of each server: odd, so that one is the median
const WARM_UP_SECONDS = 1;
const LOAD_SECONDS = 3;
const READING_INTERVAL_MS = 100;
const TICKS_PER_SECOND = 100; // of the kernel's CPU times

/** Answers like the service, and logs nothing. */
const BARE = `Deno.serve(
  { port: Number(Deno.args[0]), hostname: "0.0.0.0", onListen() {} },
  () => new Response('"Sensor data"', { headers: {
    "cache-control": "no-store", "x-content-type-options": "nosniff",
    "content-type": "application/json",
  } }),
);`;

const bare = `data:text/javascript,${encodeURIComponent(BARE)}`;
const service = (...flags: string[]) => (port: string) =>
  programCommand(["--port", port, ...flags]).flat();

/** The servers by name, each with the command that makes it listen on a port. */
const SERVERS: Record<string, (port: string) => string[]> = {
  "Deno.serve without a log": (port) => [
    Deno.execPath(),
    "run",
    "-N",
    bare,
    port,
  ],
  "this service": service(),
  "this service, --stdin": service("--stdin"),
};

/** What is measured of one start. */
interface Figures {
  speed: number; // requests per second
  cpu: number; // of a request, in µs
  memory: number; // at the end, in 10^6 bytes
}

/** Starts a server, puts it under load and stops it. */
async function measure(
  command: (port: string) => string[],
  log: string,
): Promise<Figures> {
  const port = new ReservedPort();
  const run = [
    "-c",
    'exec taskset -c 0 "$@" >"$0"',
    log,
    ...command(`${port}`),
  ];
  const options = { hasInput: true, owned: [port] };
  await using server = new Process("sh", run, options);
  const sensor = setInterval(
    () => server.write("Sensor data\n"),
    READING_INTERVAL_MS,
  );
  try {
    const ask = () => exchange(port.number, LAST_GET).catch(String);
    await waitFor("a reading", ask, (answer) => answer.includes(" 200 OK"));
    await load(port, WARM_UP_SECONDS);
    const before = await cpuSeconds(server.pid);
    const requests = await load(port, LOAD_SECONDS);
    const seconds = await cpuSeconds(server.pid) - before;
    const memory = await residentMemory(server.pid);
    const cpu = seconds / requests * 1e6;
    return { speed: requests / LOAD_SECONDS, cpu, memory };
  } finally {
    clearInterval(sensor);
  }
}

/** Sends requests from the second core, and returns how many were answered. */
async function load(port: ReservedPort, seconds: number): Promise<number> {
  const url = `http://127.0.0.1:${port}/datasensor`;
  const wrk = ["-c", "1", "wrk", "-t1", "-c50", `-d${seconds}s`, url];
  const { stdout, stderr } = await output("taskset", wrk);
  const [, requests] = stdout.match(/(\d+) requests in/) ?? [];
  if (!requests || /Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(stdout + stderr);
  }
  return Number(requests);
}

/** Returns how much CPU time a process has used, in all threads (proc_pid_stat(5)). */
async function cpuSeconds(pid: number): Promise<number> {
  const { stdout } = await output("cat", [`/proc/${pid}/stat`]);
  const fields = stdout.split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

using folder = await Folder.create();
const all = Object.entries(SERVERS)
  .map(([name, command]) => ({ name, command, figures: [] as Figures[] }));
for (let start = 1; start <= STARTS; start++) {
  console.error(`Start ${start} of ${STARTS}`);
  for (const { command, figures } of all) {
    figures.push(await measure(command, `${folder.path}/log`));
  }
}
const speeds = all.map(({ figures }) => median(figures.map((it) => it.speed)));
console.table(all.map(({ name, figures }, index) => ({
  server: name,
  "requests/s": Math.round(speeds[index]!),
  "to the first": Number((speeds[index]! / speeds[0]!).toFixed(2)),
  "CPU of a request, µs": Number(
    median(figures.map(({ cpu }) => cpu)).toFixed(1),
  ),
  "memory, MB": Math.round(median(figures.map(({ memory }) => memory))),
})));
