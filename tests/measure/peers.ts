// deno-lint-ignore-file no-console -- the list of missing servers is for people

// The servers that the bench compares: the service, bare Deno.serve and peers.

import { output } from "../helpers/process.ts";
import { programCommand } from "../helpers/program.ts";

/** The bare servers. Each header field costs: the second one sends `Last-Modified`. */
export const BARE = "bare Deno.serve, no log";
const BARE_WITH_TIME = "bare, Last-Modified, no log";

export interface Peer {
  name: string;
  /** The bare server that it is compared with, which sends the same header fields. */
  bare: string;
  /** The version of the Deno that it runs on, if it does. */
  deno?: string;
  /** Returns the command that listens on a port. */
  command: (port: string) => string[];
}

/** Configures nginx to log requests, and to serve the data with a directive. */
const nginxConfig = (folder: string, port: string, data: string) =>
  `daemon off; worker_processes 1; pid ${folder}/${port}.pid;
  events { worker_connections 2048; }
  http {
    access_log ${folder}/${port}.log;
    default_type application/json;
    add_header Cache-Control no-store;
    add_header X-Content-Type-Options nosniff;
    server { listen ${port}; location = /datasensor { ${data}; } }
  }`;

/** The header fields of the service's responses, in JavaScript. */
const FIELDS =
  `"cache-control": "no-store", "x-content-type-options": "nosniff",
    "content-type": "application/json"`;

const BARE_SCRIPT = `const headers = { ${FIELDS} };
if (Deno.args[1]) headers["last-modified"] = new Date().toUTCString();
Deno.serve(
  { port: Number(Deno.args[0]), hostname: "0.0.0.0", onListen() {} },
  () => new Response('"Sensor data"', { headers }),
);`;

const NODE = `require("node:http").createServer((request, response) => {
  response.writeHead(200, { ${FIELDS}, "content-length": 13 });
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

const EXECUTABLE = `dist/datasensor-${Deno.build.arch}`;
const PYTHON = "/usr/bin/python3";

/** Lists the installed servers, and writes their files. */
export async function listPeers(folder: string): Promise<Peer[]> {
  await Deno.chmod(folder, 0o755); // for nginx, which reads as nobody
  await Deno.writeTextFile(`${folder}/datasensor`, '"Sensor data"');
  const nginx = (port: string, data: string) => {
    const file = `${folder}/nginx.${port}`;
    Deno.writeTextFileSync(file, nginxConfig(folder, port, data));
    return ["nginx", "-e", `${folder}/nginx.error`, "-c", file];
  };
  const constant = `return 200 '"Sensor data"'`;
  const service = (port: string, ...flags: string[]) =>
    programCommand(["--port", port, ...flags]).flat();
  // A sensor, and a prefix for commands that read from it
  const fifo = `${folder}/sensor`;
  await output("mkfifo", [fifo]);
  const file = await Deno.open(fifo, { read: true, write: true });
  const reading = new TextEncoder().encode("Sensor data\n");
  Deno.unrefTimer(setInterval(() => file.writeSync(reading), 100));
  const sensor = ["sh", "-c", 'exec "$@" <>"$0"', fifo];
  const withSensor = (port: string) => [...sensor, ...service(port, "--stdin")];
  const executable = (port: string) => [EXECUTABLE, "--port", port];
  const script = `data:text/javascript,${encodeURIComponent(BARE_SCRIPT)}`;
  const run = [Deno.execPath(), "run", "-N", script];
  const bare = (port: string) => [...run, port];
  const bareWithTime = (port: string) => [...run, port, "time"];
  const flask = (port: string) => [PYTHON, "-c", FLASK, port];
  const node = (port: string) => ["node", "-e", NODE, port];
  // What shows that a server is installed and, on Deno, prints a version
  const deno = `echo Deno ${Deno.version.deno}`;
  const nginxFile = (port: string) => nginx(port, `root ${folder}`);
  const all: [name: string, bare: string, check: string, Peer["command"]][] = [
    ["this service", BARE, deno, service],
    ["this service, executable", BARE, `${EXECUTABLE} --version`, executable],
    [BARE, BARE, deno, bare],
    ["nginx, constant", BARE, "which nginx", (port) => nginx(port, constant)],
    ["Node.js http, access log", BARE, "which node", node],
    ["Flask-RESTful", BARE, `${PYTHON} -c 'import flask_restful'`, flask],
    ["this service, --stdin", BARE_WITH_TIME, deno, withSensor],
    [BARE_WITH_TIME, BARE_WITH_TIME, deno, bareWithTime],
    ["nginx, file", BARE_WITH_TIME, "which nginx", nginxFile],
  ];
  const peers: Peer[] = [];
  for (const [name, bare, check, command] of all) {
    const { code, stdout } = await output("sh", ["-c", check]);
    const [, version] = stdout.match(/Deno ([\d.]+)/) ?? [];
    if (code === 0) peers.push({ name, bare, deno: version, command });
    else console.error(`Not installed: ${name}`);
  }
  return peers;
}
