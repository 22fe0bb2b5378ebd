// Starts servers, puts them under load and measures them.

import { parseAccessLine } from "../helpers/access_line.ts";
import { exchange, LAST_GET } from "../helpers/network.ts";
import { ReservedPort } from "../helpers/ports.ts";
import { output, Process } from "../helpers/process.ts";
import { delay, within } from "../helpers/wait.ts";

/** A server on the first core, which logs to a file. */
export class Server extends Process {
  /** The time until its first response, in ms. */
  startMs = NaN;
  /** What wrk has measured so far. */
  readonly loads: ReturnType<typeof parseLoad>[] = [];

  /** Starts a server and waits for its first response. */
  static async start(
    command: (port: string) => string[],
    log: string,
  ): Promise<Server> {
    const port = new ReservedPort();
    const respond = async () => {
      const ask = () => exchange(port.number, LAST_GET).catch(() => "");
      while (!await ask()) await delay(0);
    };
    const begin = performance.now();
    const server = new Server(port, log, command(`${port}`));
    await server.untilReady(() => within(respond(), () => "a response"));
    server.startMs = performance.now() - begin;
    return server;
  }

  readonly port: number;

  private constructor(
    port: ReservedPort,
    readonly log: string,
    command: string[],
  ) {
    const run = 'exec taskset -c 0 "$@" >>"$0"';
    super("sh", ["-c", run, log, ...command], { owned: [port] });
    this.port = port.number;
  }

  /** Sends requests from the second core. */
  async load(seconds: number): Promise<void> {
    const url = `http://127.0.0.1:${this.port}/datasensor`;
    const flags = ["-t1", "-c50", `-d${seconds}s`, "--latency"];
    const wrk = ["-c", "1", "wrk", ...flags, url];
    const { stdout, stderr } = await output("taskset", wrk);
    this.loads.push(parseLoad(stdout + stderr));
  }

  /** The number of requests that it has answered, including the first one. */
  get requests(): number {
    return this.loads.reduce((sum, { requests }) => sum + requests, 1);
  }

  /** Stops it, and returns the number of requests that it has logged. */
  async countLines(): Promise<number> {
    await this.stop();
    const lines = (await Deno.readTextFile(this.log)).split("\n");
    const isOk = (line: string) => parseAccessLine(line)?.status === "200";
    return lines.filter(isOk).length;
  }
}

/** Parses the output of wrk. Latencies are in ms. */
function parseLoad(text: string) {
  const figure = (pattern: RegExp) => {
    const [, number, unit = ""] = text.match(pattern) ?? [];
    return Number(number) * ({ us: 0.001, s: 1000 }[unit] ?? 1);
  };
  const requests = figure(/(\d+) requests in/);
  if (!requests || /Non-2xx|Socket errors/.test(text)) throw new Error(text);
  return {
    requests,
    speed: figure(/Requests\/sec:\s+([\d.]+)/),
    p99: figure(/99%\s+([\d.]+)(us|ms|s)/),
  };
}
