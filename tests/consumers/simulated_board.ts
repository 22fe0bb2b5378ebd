// A board for the programs that read one. It can lose its sensor and go down.

import type { AccessLine } from "../helpers/access_line.ts";
import { Folder } from "../helpers/files.ts";
import { get } from "../helpers/network.ts";
import { output, Process } from "../helpers/process.ts";
import { Program } from "../helpers/program.ts";
import { waitFor } from "../helpers/wait.ts";

/** The program with a sensor that can die. */
export class SimulatedBoard implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #isJson: boolean;
  #sensor: Process | undefined;

  /** Starts the program with `--stdin`; its readings expire after a second. */
  static async start(...args: string[]): Promise<SimulatedBoard> {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(await Folder.create());
    const fifo = `${folder.path}/datasensor`;
    const { code, stderr } = await output("mkfifo", [fifo]);
    if (code !== 0) throw new Error(stderr);
    const wrap = ["sh", "-c", 'exec "$@" <>"$0"', fifo];
    const flags = ["--stdin", "--max-age", "1", ...args];
    const program = stack.use(await Program.start(flags, { wrap }));
    stack.move(); // the board disposes of both
    return new SimulatedBoard(program, folder, args.includes("--json"));
  }

  private constructor(
    readonly program: Program,
    folder: Folder,
    isJson: boolean,
  ) {
    this.#folder = folder;
    this.#isJson = isJson;
  }

  /** Its address and port. */
  get host(): string {
    return `127.0.0.1:${this.program.port}`;
  }

  /** Starts a sensor that repeats a reading, and waits until it is served. */
  async say(reading: string): Promise<void> {
    await this.#sensor?.[Symbol.asyncDispose]();
    this.#sensor = new Process("sh", [
      "-c",
      'while echo "$1"; do sleep 0.1; done >"$0"',
      `${this.#folder.path}/datasensor`,
      reading,
    ], { killGroup: true });
    const answer = this.#isJson ? reading : JSON.stringify(reading);
    await this.program.waitForAnswer(answer);
  }

  /** Kills the sensor, and waits until the board answers 503. */
  async becomeStale(): Promise<void> {
    await this.#sensor?.[Symbol.asyncDispose]();
    const ask = async () => {
      const response = await get(this.program.url);
      await response.body?.cancel();
      return response.status;
    };
    await waitFor("the board to answer 503", ask, (status) => status === 503);
  }

  /** Returns all requests that were answered so far, as logged. */
  async requests(): Promise<AccessLine[]> {
    const { program } = this;
    const marker = `?${crypto.randomUUID()}`;
    await (await get(program.url + marker)).body?.cancel();
    const find = () =>
      program.requests.findIndex(({ request }) => request.endsWith(marker));
    await waitFor(`${marker} in the log`, find, (index) => index >= 0);
    return program.requests.slice(0, find());
  }

  /** Stops all of it, so that connections are refused: its port stays its own. */
  async goDown(): Promise<void> {
    await this.#sensor?.[Symbol.asyncDispose]();
    await this.program.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sensor?.[Symbol.asyncDispose]();
    await this.program[Symbol.asyncDispose]();
    this.#folder.remove();
  }
}
