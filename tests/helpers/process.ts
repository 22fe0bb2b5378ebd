// Runs commands and ends them.

import { DEADLINE_MS, delay, waitFor, within } from "./wait.ts";

/** How long a command may take, in case one that should exit keeps running. */
const COMMAND_DEADLINE_MS = 120_000;

/** How a command ended, and what it printed. */
export type Output = Awaited<ReturnType<typeof output>>;

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Whether to kill the whole process group, as it starts other processes. */
  killGroup?: boolean;
  /** Whether {@linkcode Process.write} feeds its input, otherwise empty. */
  hasInput?: boolean;
}

/** Runs a command until it exits, or kills it. */
export async function output(
  command: string,
  args: string[],
  options: ProcessOptions = {},
  limit = COMMAND_DEADLINE_MS,
) {
  await using process = new Process(command, args, options);
  const { code, signal } = await process.waitForEnd(limit);
  const { stdout, stderr } = process;
  return { code, signal, stdout, stderr };
}

export class Process implements AsyncDisposable {
  /** What it has printed so far. */
  stdout = "";
  stderr = "";
  /** How long to pause after each chunk of output; Infinity stops reading. */
  readDelayMs = 0;
  /** Resolves when it has ended, even if some of its output is unread. */
  readonly ended: Promise<Deno.CommandStatus>;
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #killGroup: boolean;
  readonly #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  readonly #done: Promise<Deno.CommandStatus>; // and all its output is read
  #status: Deno.CommandStatus | undefined; // when it is done

  constructor(command: string, args: string[], options: ProcessOptions = {}) {
    const { cwd, env, killGroup = false, hasInput = false } = options;
    this.#killGroup = killGroup;
    this.#child = new Deno.Command(command, {
      args,
      cwd,
      // Tests read what it prints: in English, without colors
      env: { LC_ALL: "C.UTF-8", NO_COLOR: "1", ...env },
      detached: killGroup, // starts a process group
      stdin: hasInput ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = hasInput ? this.#child.stdin.getWriter() : undefined;
    this.pid = this.#child.pid;
    this.ended = this.#child.status;
    const readAll = [this.#read("stdout"), this.#read("stderr")];
    this.#done = Promise.all(readAll).then(() => this.ended);
    this.#done.then((status) => this.#status = status);
  }

  async #read(name: "stdout" | "stderr"): Promise<void> {
    const stream = this.#child[name].pipeThrough(new TextDecoderStream());
    for await (const text of stream) {
      this[name] += text;
      // In steps, because a test may shorten the delay meanwhile
      for (let ms = 0; ms < this.readDelayMs; ms += 5) await delay(5);
    }
  }

  async write(text: string): Promise<void> {
    await this.#input?.write(new TextEncoder().encode(text));
  }

  async endInput(): Promise<void> {
    await this.#input?.close();
  }

  /**
   * Waits for a condition, up to a limit in ms. If it ends first, the error shows its
   * output.
   */
  async waitFor(
    condition: () => boolean | Promise<boolean>,
    limit = DEADLINE_MS,
  ): Promise<void> {
    await waitFor(
      async () => {
        // Read first: once it has ended, the condition sees all of its output
        const status = this.#status;
        if (await condition()) return true;
        if (status === undefined) return false;
        throw new Error(`Ended with ${status.code}: ${this.#printed()}`);
      },
      () => this.#printed(),
      limit,
    );
  }

  #printed(): string {
    return this.stdout.slice(-2000) + this.stderr.slice(-2000);
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits until it ends, up to a limit in ms, and reads all its output. */
  async waitForEnd(limit = DEADLINE_MS): Promise<Deno.CommandStatus> {
    const explain = () => `still running: ${this.#printed()}`;
    await within(this.ended, explain, limit);
    this.readDelayMs = 0;
    return await within(this.#done, () => "the output stays open");
  }

  /** Sends a signal, and waits until it ends. */
  async stop(signal: Deno.Signal = "SIGTERM", limit?: number) {
    this.kill(signal);
    return await this.waitForEnd(limit);
  }

  /** Sends a signal, to it or its child, every 20 ms until it ends. */
  async signalUntilExit(signal: Deno.Signal, pid = this.pid) {
    const timer = setInterval(() => sendSignal(pid, signal), 20);
    try {
      return await this.waitForEnd();
    } finally {
      clearInterval(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    sendSignal(this.#killGroup ? -this.pid : this.pid, "SIGKILL");
    await this.#input?.abort();
    await this.waitForEnd();
  }
}

function sendSignal(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended
  }
}
