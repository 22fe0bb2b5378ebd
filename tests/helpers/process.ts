// Runs commands, and ends them.

import { DEADLINE_MS, waitFor, within } from "./wait.ts";

/** How long a command may take: one that should exit could serve instead. */
const COMMAND_DEADLINE_MS = 120_000;

// The tests only use this machine's servers, never through a proxy
for (const name of ["NO_PROXY", "no_proxy"]) {
  const others = Deno.env.get(name)?.split(",") ?? [];
  const hosts = new Set([...others, "127.0.0.1", "::1", "localhost"]);
  Deno.env.set(name, [...hosts].join(","));
}

/** The result of a process. */
export interface Output {
  code: number;
  signal: Deno.Signal | null;
  stdout: string;
  stderr: string;
}

/** How a process is started. */
export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Whether it starts other processes, which must end with it. */
  startsOthers?: boolean;
}

/** Runs a command until it exits, or kills it. */
export async function output(
  command: string,
  args: string[],
  options: ProcessOptions = {},
): Promise<Output> {
  await using process = new Process(command, args, options);
  const { code, signal } = await process.end(COMMAND_DEADLINE_MS);
  const { stdout, stderr } = process;
  return { code, signal, stdout, stderr };
}

/** A started process. */
export class Process implements AsyncDisposable {
  /** What it has printed so far. */
  stdout = "";
  stderr = "";
  /** Resolves when it has ended, even if some of its output is unread. */
  readonly ended: Promise<Deno.CommandStatus>;
  /** Whether its standard output is closed, after {@linkcode closeConsole}. */
  consoleIsClosed = false;
  readonly #child: Deno.ChildProcess;
  readonly #startsOthers: boolean;
  readonly #readStdout: Promise<void>;
  readonly #done: Promise<Deno.CommandStatus>; // and all its output is read
  #status: Deno.CommandStatus | undefined; // when it is done
  #reading = Promise.resolve();
  #closing = false;

  constructor(command: string, args: string[], options: ProcessOptions = {}) {
    const { cwd, env, startsOthers = false } = options;
    this.#startsOthers = startsOthers;
    this.#child = new Deno.Command(command, {
      args,
      cwd,
      env: { NO_COLOR: "1", ...env },
      detached: startsOthers, // they become a process group
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.ended = this.#child.status;
    this.#readStdout = this.#collect("stdout");
    const readAll = [this.#readStdout, this.#collect("stderr")];
    this.#done = Promise.all(readAll).then(() => this.ended);
    this.#done.then((status) => this.#status = status);
  }

  async #collect(name: "stdout" | "stderr"): Promise<void> {
    const stream = this.#child[name].pipeThrough(new TextDecoderStream());
    for await (const text of stream) {
      this[name] += text;
      await this.#reading;
      if (this.#closing) break;
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Stops reading what it prints. */
  pause(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    this.resume = resolve;
  }

  /** Continues reading. */
  resume: () => void = () => {};

  /** Closes its standard output after its next line, as `head` does. */
  closeConsole(): void {
    this.#closing = true;
    this.#readStdout.then(() => this.consoleIsClosed = true);
  }

  /** Waits for a condition; fails, with what it printed, if it has ended. */
  async waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(async () => {
      const status = this.#status;
      if (await condition()) return true;
      if (status === undefined) return false;
      throw new Error(`It ended with ${status.code}: ${this.#printed()}`);
    }, () => this.#printed());
  }

  #printed(): string {
    return this.stdout.slice(-2000) + this.stderr.slice(-2000);
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits until it has ended and all its output is read. */
  async end(limit = DEADLINE_MS): Promise<Deno.CommandStatus> {
    const explain = () => `it does not end: ${this.#printed()}`;
    return await within(this.#done, explain, limit);
  }

  /** Sends a signal, and waits for its end. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    this.kill(signal);
    return await this.end();
  }

  /** Sends a signal, to it or its child, every 20 ms until its end. */
  async insist(
    signal: Deno.Signal,
    pid = this.pid,
  ): Promise<Deno.CommandStatus> {
    const timer = setInterval(() => sendSignal(pid, signal), 20);
    try {
      return await this.end();
    } finally {
      clearInterval(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    sendSignal(this.#startsOthers ? -this.pid : this.pid, "SIGKILL");
    this.resume();
    await this.end();
  }
}

/** Sends a signal to a process, unless it has ended. */
function sendSignal(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended
  }
}
