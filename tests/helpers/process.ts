// Runs commands and ends them.

import { DEADLINE_MS, delay, tail, waitFor, within } from "./wait.ts";

/** How long a command may take, in case one that should exit keeps running. */
const COMMAND_DEADLINE_MS = 300_000;

/** The user's proxies, which only programs that download something get. */
export const PROXIES: Record<string, string> = {};

/** The environment of this test, without what changes what is printed, or when. */
const ENVIRONMENT: Record<string, string> = {};

for (const [name, value] of Object.entries(Deno.env.toObject())) {
  if (/^(all|ftp|https?|no|wss?)_proxy$/i.test(name)) PROXIES[name] = value;
  else if (!/^(FORCE_COLOR|PYTHONUNBUFFERED)$/.test(name)) {
    ENVIRONMENT[name] = value;
  }
}

/** How a command ended, and what it printed. */
export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  cwd?: string;
  env?: Record<string, string>;
}

/** Kills what the tests of a file have started once they end, even if they are killed. */
class Guard {
  /** The process groups: each once when it starts, and once more when it has ended. */
  readonly #list = Deno.makeTempFileSync();

  /** Reads until the tests end. As a garbage-collected variable, it would read no longer. */
  readonly process = new Deno.Command("sh", {
    args: [
      "-c",
      `cat
      sort "$0" | uniq -u | while read -r group; do kill -s KILL -- "-$group"; done
      rm "$0"`,
      this.#list,
    ],
    detached: true, // Ctrl+C does not end it
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();

  /** Adds a group to the list, before anything else can happen. */
  list(group: number): void {
    Deno.writeTextFileSync(this.#list, `${group}\n`, { append: true });
  }
}

const guard = new Guard();

/** Runs a command, whose input is empty, until it exits, or kills it. */
export async function output(
  command: string,
  args: string[],
  options: ProcessOptions = {},
  limit = COMMAND_DEADLINE_MS,
): Promise<Output> {
  await using process = new Process(command, args, options);
  await process.closeInput();
  const { code } = await process.waitForEnd(limit);
  const { stdout, stderr } = process;
  return { code, stdout, stderr };
}

/** Runs a script of the shell. Returns what it prints, or throws if it fails. */
export async function shell(
  script: string,
  args: string[] = [],
  options: ProcessOptions = {},
  limit?: number,
): Promise<string> {
  const ended = await output("sh", ["-ec", script, ...args], options, limit);
  if (ended.code === 0) return ended.stdout;
  throw new Error(`${script}\n${ended.stdout}${ended.stderr}`);
}

export class Process implements AsyncDisposable {
  /** What it has printed so far. */
  stdout = "";
  stderr = "";
  readonly pid: number;
  readonly #name: string;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  /** Resolves when it has ended and all its output is read. */
  readonly #closed: Promise<Deno.CommandStatus>;
  #isClosed = false;
  isPaused = false; // nobody reads its output, as after Ctrl+S on a terminal

  constructor(
    command: string,
    args: string[],
    { cwd, env }: ProcessOptions = {},
  ) {
    const name = [command.replace(/.*\//, ""), ...args].join(" ");
    this.#name = `"${name.replace(/\s+/g, " ").slice(0, 100)}"`;
    this.#child = new Deno.Command(command, {
      args,
      cwd,
      clearEnv: true,
      // Tests read what it prints: in English, without colors, and by curl as documents show it
      env: {
        ...ENVIRONMENT,
        CURL_HOME: import.meta.dirname!, // whose .curlrc replaces the user's
        LC_ALL: "C.UTF-8",
        NO_COLOR: "1",
        ...env,
      },
      detached: true, // starts a session, without a terminal
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.pid = this.#child.pid;
    guard.list(this.pid);
    const readAll = [this.#read("stdout"), this.#read("stderr")];
    this.#closed = Promise.all(readAll).then(() => this.#child.status);
    this.#closed.then(() => {
      this.#isClosed = true;
      guard.list(this.pid);
    });
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
      while (this.isPaused) await delay(5);
    }
  }

  async write(text: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(text));
  }

  async closeInput(): Promise<void> {
    await this.#input.close().catch(() => {}); // it has ended
  }

  /** Waits until its output matches a pattern, and returns the match. */
  async waitForMatch(
    pattern: RegExp,
    limit = DEADLINE_MS,
  ): Promise<RegExpMatchArray> {
    const find = () => {
      const isClosed = this.#isClosed; // nothing follows then
      const match = this.stdout.match(pattern) ?? this.stderr.match(pattern);
      if (match || !isClosed) return match;
      throw new Error(`It has ended: ${tail(this.stdout + this.stderr)}`);
    };
    const what = `${pattern} in the output of ${this.#name}`;
    return (await waitFor(what, find, Boolean, limit))!;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal); // throws if it has ended
  }

  /** Waits until it ends, up to a limit in ms, and reads all its output. */
  async waitForEnd(limit = DEADLINE_MS): Promise<Deno.CommandStatus> {
    await within(this.#child.status, () => `the end of ${this.#name}`, limit);
    this.isPaused = false;
    return await within(this.#closed, () => `all output of ${this.#name}`);
  }

  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    this.kill(signal);
    return await this.waitForEnd();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isPaused = false;
    this.#kill();
    await this.#input.abort().catch(() => {}); // it is closed
    await this.waitForEnd();
  }

  /** Kills it, and what it has started. The id of what has ended may be that of another one. */
  #kill(): void {
    try {
      // While somebody has its output open, the system does not reuse the group's id
      if (!this.#isClosed) Deno.kill(-this.pid, "SIGKILL");
    } catch {
      // It has just ended
    }
  }
}
