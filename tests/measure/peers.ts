// The servers that the bench compares: the service, bare Deno.serve and peers.

import { command } from "../helpers/program.ts";

/** A server to measure. */
export interface Server {
  name: string;
  /** A shell command that succeeds where it is installed. */
  installed: string;
  /** The command that listens on a port. */
  command: (port: number) => string[];
}

/** An nginx that returns the data by a directive, with an access log. */
const nginxConfig = (folder: string, port: number, data: string) =>
  `daemon off; worker_processes 1; pid ${folder}/${port}.pid;
  error_log ${folder}/nginx.error;
  events { worker_connections 2048; }
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

const EXECUTABLE = `dist/datasensor-${Deno.build.arch}`;

/**
 * Lists the servers; bare Deno.serve is the second.
 *
 * @param folder Where nginx has its files.
 * @param readSensor The command that gives a command a sensor's readings.
 */
export function listServers(folder: string, readSensor: string[]): Server[] {
  const nginx = (port: number, data: string): string[] => {
    const file = `${folder}/nginx.${port}`;
    Deno.writeTextFileSync(`${folder}/datasensor`, '"Sensor data"');
    Deno.writeTextFileSync(file, nginxConfig(folder, port, data));
    return ["nginx", "-e", `${folder}/nginx.error`, "-c", file];
  };
  const service = (port: number, ...flags: string[]) =>
    command(["--port", String(port), ...flags]).flat();
  const bare = "tests/measure/bench_bare.ts";
  return [
    {
      name: "this service",
      installed: "true",
      command: (port) => service(port),
    },
    {
      name: "bare Deno.serve, no log",
      installed: "true",
      command: (
        port,
      ) => [Deno.execPath(), "run", "--allow-net", bare, String(port)],
    },
    {
      name: "this service, --stdin",
      installed: "true",
      command: (port) => [...readSensor, ...service(port, "--stdin")],
    },
    {
      name: "this service, executable",
      installed: `test -x ${EXECUTABLE}`,
      command: (port) => [EXECUTABLE, "--port", String(port)],
    },
    {
      name: "nginx, constant",
      installed: "which nginx",
      command: (port) => nginx(port, `return 200 '"Sensor data"'`),
    },
    {
      name: "nginx, file",
      installed: "which nginx",
      command: (port) => nginx(port, `root ${folder}`),
    },
    {
      name: "Node.js http, access log",
      installed: "which node",
      command: (port) => ["node", "-e", NODE, String(port)],
    },
    {
      name: "Flask-RESTful",
      installed: "/usr/bin/python3 -c 'import flask_restful'",
      command: (port) => ["/usr/bin/python3", "-c", FLASK, String(port)],
    },
  ];
}
