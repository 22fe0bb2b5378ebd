// Puts servers under load and measures them, for the tasks bench and soak.

import { output } from "../helpers/process.ts";

/** What wrk measured in one run. */
export interface Load {
  requests: number;
  requestsPerSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
}

const write = (stream: typeof Deno.stdout, text: string) =>
  stream.writeSync(new TextEncoder().encode(text));

const RETURN = "\r\x1b[K"; // to the begin of a line, which is empty then

/** Prints a line. */
export function print(text: string): void {
  if (Deno.stderr.isTerminal()) write(Deno.stderr, RETURN);
  write(Deno.stdout, `${text}\n`);
}

/** Tells how far the work is: in lines, or on a terminal in place. */
export function tell(progress: string): void {
  const isTerminal = Deno.stderr.isTerminal();
  write(Deno.stderr, isTerminal ? RETURN + progress : `${progress}\n`);
}

/** A sensor: a FIFO into which a reading goes ten times a second. */
export class Sensor implements Disposable {
  /** The command that has a command read the FIFO. */
  readonly read: string[];
  readonly #file: Deno.FsFile;
  readonly #timer: ReturnType<typeof setInterval>;

  static async create(fifo: string): Promise<Sensor> {
    await output("mkfifo", [fifo]);
    return new Sensor(fifo);
  }

  private constructor(fifo: string) {
    this.read = ["sh", "-c", 'exec "$@" <>"$0"', fifo];
    this.#file = Deno.openSync(fifo, { read: true, write: true });
    const reading = new TextEncoder().encode("Sensor data\n");
    this.#timer = setInterval(() => this.#file.writeSync(reading), 100);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#file.close();
  }
}

/** Ends the process with a clear sentence where wrk is missing. */
export async function requireWrk(): Promise<void> {
  if ((await output("which", ["wrk"])).code === 0) return;
  tell("wrk is not installed: it is Debian's package of that name\n");
  Deno.exit(1);
}

/**
 * Sends requests over some connections for a time, from the second core.
 *
 * @throws {Error} If a response was not 200.
 */
export async function load(
  url: string,
  seconds: number,
  connections = 50,
): Promise<Load> {
  const wrk = [
    "wrk",
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--latency",
    url,
  ];
  const { stdout } = await output("taskset", ["-c", "1", ...wrk]);
  const figure = (pattern: RegExp) => {
    const [, number, unit = ""] = stdout.match(pattern) ?? [];
    return Number(number) * ({ us: 0.001, s: 1000 }[unit] ?? 1);
  };
  const requests = figure(/(\d+) requests in/);
  if (!requests || /Non-2xx|Socket errors/.test(stdout)) {
    throw new Error(stdout);
  }
  return {
    requests,
    requestsPerSecond: figure(/Requests\/sec:\s+([\d.]+)/),
    p50: figure(/50%\s+([\d.]+)(us|ms|s)/),
    p99: figure(/99%\s+([\d.]+)(us|ms|s)/),
  };
}
