// Runs commands and ends them.

import {
  DEADLINE_MS,
  type Participant,
  participants,
  tail,
  waitFor,
  within,
} from "./wait.ts";

/** How long a command may take, in case one that should exit keeps running. */
const COMMAND_DEADLINE_MS = 120_000;

/** The environment of this test. */
const ENVIRONMENT = Deno.env.toObject();

/** The user's proxies, which only programs that download something get. */
export const PROXIES: Record<string, string> = {};
for (const name of Object.keys(ENVIRONMENT)) {
  if (!/^(all|ftp|https?|no|wss?)_proxy$/i.test(name)) continue;
  PROXIES[name] = ENVIRONMENT[name]!;
  delete ENVIRONMENT[name];
}
delete ENVIRONMENT.FORCE_COLOR; // tests read what is printed

/** How a command ended, and what it printed. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Whether to kill the whole process group, as it starts other processes. */
  killGroup?: boolean;
  /** Whether {@linkcode Process.write} feeds its input, otherwise empty. */
  hasInput?: boolean;
  /** What only it uses, which is disposed of once it has ended. */
  owned?: Disposable[];
}

/** Runs a command until it exits, or kills it. */
export async function output(
  command: string,
  args: string[],
  options: ProcessOptions = {},
  limit = COMMAND_DEADLINE_MS,
): Promise<Output> {
  await using process = new Process(command, args, options);
  const { code } = await process.waitForEnd(limit);
  const { stdout, stderr } = process;
  return { code, stdout, stderr };
}

export class Process implements AsyncDisposable, Participant {
  /** What it has printed so far. */
  stdout = "";
  stderr = "";
  readonly pid: number;
  readonly #name: string;
  readonly #child: Deno.ChildProcess;
  readonly #killGroup: boolean;
  readonly #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  /** Resolves when it has ended and all its output is read. */
  readonly #closed: Promise<Deno.CommandStatus>;
  readonly #owned = new DisposableStack();
  #closedStatus: Deno.CommandStatus | undefined; // once it is closed
  #isEndExpected = false; // a test has told it to end, or waits for that
  #pause: PromiseWithResolvers<void> | undefined; // while nobody reads its output

  constructor(command: string, args: string[], options: ProcessOptions = {}) {
    const { cwd, env, killGroup = false, hasInput = false, owned } = options;
    for (const it of owned ?? []) this.#owned.use(it);
    const name = [command.replace(/.*\//, ""), ...args].join(" ");
    this.#name = `"${name.replace(/\s+/g, " ").slice(0, 100)}"`;
    this.#killGroup = killGroup;
    try {
      this.#child = new Deno.Command(command, {
        args,
        cwd,
        clearEnv: true,
        // Tests read what it prints: in English, without colors
        env: { ...ENVIRONMENT, LC_ALL: "C.UTF-8", NO_COLOR: "1", ...env },
        detached: killGroup, // starts a process group
        stdin: hasInput ? "piped" : "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    } catch (error) {
      this.#owned.dispose();
      throw error;
    }
    this.#input = hasInput ? this.#child.stdin.getWriter() : undefined;
    this.pid = this.#child.pid;
    const readAll = [this.#read("stdout"), this.#read("stderr")];
    this.#closed = Promise.all(readAll).then(() => this.#child.status);
    this.#closed.then((status) => this.#closedStatus = status);
    participants.add(this);
  }

  /** Returns it once it is ready, or disposes of it if that fails. */
  async untilReady(ready: () => Promise<unknown>): Promise<this> {
    await using stack = new AsyncDisposableStack();
    stack.use(this);
    await ready();
    stack.move(); // the caller disposes of it
    return this;
  }

  async #read(name: "stdout" | "stderr"): Promise<void> {
    const stream = this.#child[name].pipeThrough(new TextDecoderStream());
    for await (const text of stream) {
      this[name] += text;
      await this.#pause?.promise;
    }
  }

  /** Stops reading its output, as a terminal does after Ctrl+S. */
  pauseReading(): void {
    this.#pause ??= Promise.withResolvers();
  }

  /** Reads its output again. */
  resumeReading(): void {
    this.#pause?.resolve();
    this.#pause = undefined;
  }

  async write(text: string): Promise<void> {
    await this.#input?.write(new TextEncoder().encode(text));
  }

  get failure(): string | undefined {
    if (!this.#closedStatus || this.#isEndExpected) return undefined;
    return `${this.#name} has ended with ${this.#closedStatus.code}`;
  }

  describe(): string {
    const code = this.#closedStatus?.code;
    const state = code === undefined ? "runs" : `ended with ${code}`;
    return `${this.#name} ${state}
stdout: ${tail(this.stdout)}
stderr: ${tail(this.stderr)}`;
  }

  /** Waits until its output matches a pattern, and returns the match. */
  async waitForMatch(
    pattern: RegExp,
    limit = DEADLINE_MS,
  ): Promise<RegExpMatchArray> {
    const find = () => this.stdout.match(pattern) ?? this.stderr.match(pattern);
    const what = `${pattern} in the output of ${this.#name}`;
    return (await waitFor(what, find, Boolean, { limit }))!;
  }

  kill(signal: Deno.Signal): void {
    this.#isEndExpected = true;
    this.#child.kill(signal); // throws if it has ended
  }

  /** Waits until it ends, up to a limit in ms, and reads all its output. */
  async waitForEnd(limit = DEADLINE_MS): Promise<Deno.CommandStatus> {
    this.#isEndExpected = true;
    await within(this.#child.status, () => `the end of ${this.#name}`, limit);
    this.resumeReading();
    const rest = () =>
      `the end of the output of ${this.#name}, which has ended`;
    return await within(this.#closed, rest);
  }

  /** Sends a signal, and waits until it ends. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    this.kill(signal);
    return await this.waitForEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resumeReading();
    this.#kill();
    await this.#input?.abort();
    try {
      await this.waitForEnd();
    } finally {
      participants.delete(this);
      this.#owned.dispose();
    }
  }

  /** Kills what is left of it. The id of what has ended may be that of another one. */
  #kill(): void {
    try {
      if (!this.#killGroup) this.#child.kill("SIGKILL");
      // While somebody has its output open, the system does not reuse the group's id
      else if (!this.#closedStatus) Deno.kill(-this.pid, "SIGKILL");
    } catch {
      // It has just ended
    }
  }
}
