// deno-lint-ignore-file no-console -- the table is for people

// Compares the service with a Deno.serve that logs nothing, in about two minutes. The
// server runs on the first core, and Debian's wrk, with 50 connections, on the second.
//
// Compare figures of one run only. The speed of a process differs by up to 8 % from that of
// the next one that runs the same program, for as long as it runs. Therefore, the servers
// are started several times, in turn, and the figures are medians of the starts.

import { Folder } from "../helpers/files.ts";
import { exchange, LAST_GET } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { loggedPort, programCommand } from "../helpers/program.ts";
import { residentMemory } from "../helpers/resources.ts";
import { waitFor } from "../helpers/wait.ts";

const STARTS = 7; // of each server: odd, so that one is the median
const WARM_UP_SECONDS = 1;
const LOAD_SECONDS = 3;
const READING_INTERVAL_MS = 100;
const TICKS_PER_SECOND = 100; // of the kernel's CPU times

/** Answers like the service, and logs nothing. */
const BARE = `Deno.serve(
  { port: 0, hostname: "0.0.0.0" },
  () => new Response('"Sensor data"', { headers: {
    "cache-control": "no-store", "x-content-type-options": "nosniff",
    "content-type": "application/json",
  } }),
);`;

const bare = `data:text/javascript,${encodeURIComponent(BARE)}`;
const service = (...flags: string[]) =>
  programCommand(["--port", "0", ...flags]).flat();

/** The servers by name, each with its command. */
const SERVERS: Record<string, string[]> = {
  "Deno.serve without a log": [Deno.execPath(), "run", "-N", bare],
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
  command: string[],
  log: string,
): Promise<Figures> {
  const script = 'exec taskset -c 0 "$@" >"$0" 2>&1';
  const run = ["-c", script, log, ...command];
  await using server = new Process("sh", run, { hasInput: true });
  const sensor = setInterval(
    () => server.write("Sensor data\n"),
    READING_INTERVAL_MS,
  );
  try {
    const port = await loggedPort(log);
    const ask = () => exchange(port, LAST_GET).catch(String);
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
async function load(port: number, seconds: number): Promise<number> {
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
  for (const { name, command, figures } of all) {
    figures.push(await measure(command, `${folder.path}/${start} ${name}`));
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
