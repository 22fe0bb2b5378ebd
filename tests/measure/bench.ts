// Measures the service against its yardstick and its peers, in one run. Each
// server runs on the first core and wrk on the second, in alternating rounds.

import { type Load, load, print, requireWrk, Sensor, tell } from "./load.ts";
import { residentMemory } from "../helpers/machine.ts";
import { freePort } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, Program } from "../helpers/program.ts";
import { DEADLINE, delay } from "../helpers/wait.ts";

const ROUNDS = 21;
const ROUND_SECONDS = 1;
const STARTS = 15;

/** A server to measure. */
interface Server {
  name: string;
  /** A shell command that succeeds where it is installed. */
  installed: string;
  /** The command that listens on a port. */
  command: (port: number) => string[];
}

const folder = await Deno.makeTempDir();
await Deno.chmod(folder, 0o755); // for nginx, which reads as nobody

/** How nginx is configured, once to return the data and once to read it. */
const NGINX = (port: number, data: string) =>
  `daemon off; worker_processes 1; pid ${folder}/${port}.pid;
  error_log ${folder}/nginx.error;
  events { worker_connections 256; }
  http {
    access_log ${folder}/${port}.log;
    server {
      listen ${port};
      location = /datasensor {
        default_type application/json;
        add_header Cache-Control no-store;
        add_header X-Content-Type-Options nosniff;
        ${data};
      }
    }
  }`;

const NODE = `require("node:http").createServer((request, response) => {
  response.writeHead(200, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": "application/json",
    "content-length": 13,
  });
  response.end('"Sensor data"');
  console.log(\`\${request.socket.remoteAddress} - - [\${new Date().toISOString()}]\` +
    \` "\${request.method} \${request.url} HTTP/\${request.httpVersion}" 200 -\`);
}).listen(Number(process.argv[1]), "0.0.0.0");`;

const FLASK = `import sys
from flask import Flask
from flask_restful import Api, Resource
class Sensor(Resource):
    def get(self): return "Sensor data"
app = Flask(__name__)
Api(app).add_resource(Sensor, "/datasensor")
app.run(host="0.0.0.0", port=int(sys.argv[1]), debug=True, use_reloader=False)`;

/** Writes a configuration of nginx and returns the command that uses it. */
function nginx(port: number, data: string): string[] {
  const file = `${folder}/nginx.${port}`;
  Deno.writeTextFileSync(`${folder}/datasensor`, '"Sensor data"');
  Deno.writeTextFileSync(file, NGINX(port, data));
  return ["nginx", "-e", `${folder}/nginx.error`, "-c", file];
}

const EXECUTABLE = `dist/datasensor-${Deno.build.arch}`;

const sensor = await Sensor.create(`${folder}/sensor`);

const SERVERS: Server[] = [
  {
    name: "this service",
    installed: "true",
    command: (port) => command(["--port", String(port)]).flat(),
  },
  {
    name: "bare Deno.serve, no log",
    installed: "true",
    command: (port) => [
      Deno.execPath(),
      "run",
      "--allow-net",
      "tests/measure/bench_bare.ts",
      String(port),
    ],
  },
  {
    name: "this service, --stdin",
    installed: "true",
    command: (port) => [
      ...sensor.read,
      ...command(["--port", String(port), "--stdin"]).flat(),
    ],
  },
  {
    name: "this service, its executable",
    installed: `test -x ${EXECUTABLE}`,
    command: (port) => [EXECUTABLE, "--port", String(port)],
  },
  {
    name: "nginx, a constant, access_log",
    installed: "which nginx",
    command: (port) => nginx(port, `return 200 '"Sensor data"'`),
  },
  {
    name: "nginx, a file, access_log",
    installed: "which nginx",
    command: (port) => nginx(port, `root ${folder}`),
  },
  {
    name: "Node.js http, a line a request",
    installed: "which node",
    command: (port) => ["node", "-e", NODE, String(port)],
  },
  {
    name: "Flask-RESTful",
    installed: "/usr/bin/python3 -c 'import flask_restful'",
    command: (port) => ["/usr/bin/python3", "-c", FLASK, String(port)],
  },
];

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Starts a server, its console a file, and waits for its first answer. */
async function start({ command }: Server, log: string) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}/datasensor`;
  const begin = performance.now();
  // Some write their lines to standard error
  const pinned = ["sh", "-c", 'exec taskset -c 0 "$@" 2>&1', "sh"];
  const program = Program.appendingTo(log, [...pinned, ...command(port)]);
  const deadline = begin + DEADLINE;
  for (;;) {
    try {
      await (await fetch(url)).body?.cancel();
      return { program, url, milliseconds: performance.now() - begin };
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(0); // refused: it does not listen yet
    }
  }
}

/** Resident memory of a process and those that it started, in MB. */
async function memoryOf(pid: number): Promise<number> {
  const { stdout } = await output("pgrep", ["-P", String(pid)]);
  const children = stdout.split("\n").filter(Boolean).map(Number);
  const figures = await Promise.all([pid, ...children].map(residentMemory));
  return figures.reduce((sum, figure) => sum + figure);
}

/** Returns how long each server takes to its first answer, in ms. */
async function measureStarts(servers: Server[]): Promise<number[]> {
  const starts = servers.map((): number[] => []);
  for (let i = 1; i <= STARTS; i++) {
    tell(`Start ${i} of ${STARTS}`);
    for (const [index, server] of servers.entries()) {
      const { program, milliseconds } = await start(server, "/dev/null");
      starts[index]!.push(milliseconds);
      await program.stop();
    }
  }
  return starts.map(median);
}

/** What a server did under load. */
interface Measured {
  name: string;
  log: string;
  loads: Load[];
  /** Resident memory before the first load and after each one, in MB. */
  memory: number[];
}

/** Puts the servers under load side by side. */
async function measureLoads(servers: Server[]): Promise<Measured[]> {
  await using programs = new AsyncDisposableStack();
  const running = [];
  for (const [index, server] of servers.entries()) {
    const log = `${folder}/${index}.log`;
    const { program, url } = await start(server, log);
    programs.use(program);
    const memory = [await memoryOf(program.pid)];
    const loads: Load[] = [];
    running.push({ name: server.name, log, program, url, loads, memory });
  }
  for (let round = 1; round <= ROUNDS; round++) {
    tell(`Round ${round} of ${ROUNDS}`);
    // There and back, so that none always follows the same one
    const order = round % 2 === 0 ? running : running.toReversed();
    for (const { url, program, loads, memory } of order) {
      loads.push(await load(url, ROUND_SECONDS));
      memory.push(await memoryOf(program.pid));
    }
  }
  for (const { program } of running) await program.stop();
  return running;
}

/** Prints the table. */
function printTable(measured: Measured[], starts: number[]): void {
  const figure = (of: (load: Load) => number) => (loads: Load[]) =>
    median(loads.map(of));
  const speed = figure((load) => load.requestsPerSecond);
  const p50 = figure((load) => load.p50);
  const p99 = figure((load) => load.p99);
  // Round by round, as the machine is not the same from one to the next
  const bare = measured[1]!.loads;
  const toBare = (loads: Load[]) =>
    median(
      loads.map((load, round) =>
        load.requestsPerSecond / bare[round]!.requestsPerSecond
      ),
    );
  print(
    "| server | requests/s | to bare | p50, ms | p99, ms | idle, MB | " +
      "after 1 load | after all | start, ms |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|",
  );
  for (const [index, { name, loads, memory }] of measured.entries()) {
    const columns = [
      name,
      speed(loads).toFixed(0),
      toBare(loads).toFixed(2),
      p50(loads).toFixed(2),
      p99(loads).toFixed(2),
      memory[0]!.toFixed(0),
      memory[1]!.toFixed(0),
      memory.at(-1)!.toFixed(0),
      starts[index]!.toFixed(0),
    ];
    print(`| ${columns.join(" | ")} |`);
  }
}

/** Whether the service logged every request. */
function hasLoggedAll({ name, log, loads }: Measured): boolean {
  const sent = loads.reduce((sum, { requests }) => sum + requests, 0);
  const lines = Deno.readTextFileSync(log).match(/ 200 -\n/g)!.length;
  print(`${name}: ${sent} requests, ${lines} lines`);
  return lines >= sent;
}

await requireWrk();
const installed: Server[] = [];
for (const server of SERVERS) {
  const { code } = await output("sh", ["-c", server.installed]);
  if (code === 0) installed.push(server);
  else print(`Not installed: ${server.name}`);
}
try {
  const starts = await measureStarts(installed);
  const measured = await measureLoads(installed);
  if (!hasLoggedAll(measured[0]!)) Deno.exitCode = 1;
  printTable(measured, starts);
} finally {
  sensor[Symbol.dispose]();
  await Deno.remove(folder, { recursive: true });
}
