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

/** Prints a line of the result. */
export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** Prints the progress to standard error. */
export function printProgress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** A sensor that writes a reading to a FIFO ten times a second. */
export class Sensor implements Disposable {
  /** A command that runs another one with the FIFO as its standard input. */
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

/** Exits with a message if wrk is missing. */
export async function requireWrk(): Promise<void> {
  if ((await output("which", ["wrk"])).code === 0) return;
  printProgress("wrk is not installed: install the package wrk");
  Deno.exit(1);
}

/**
 * Sends requests from the second core for some seconds.
 *
 * @throws {Error} If a response was not 200.
 */
export async function load(
  url: string,
  seconds: number,
  connections = 50,
): Promise<Load> {
  const flags = ["-t1", `-c${connections}`, `-d${seconds}s`, "--latency"];
  const { stdout } = await output("taskset", ["-c", "1", "wrk", ...flags, url]);
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
