// Starts the program as a process, the way its users do.

import { delay } from "../../src/delay.ts";

/** How long a test waits for what must happen, in ms. */
export const DEADLINE = 20_000;

/** How long a command may take, in ms: a program that should end may serve. */
const COMMAND_DEADLINE = 120_000;

/** The flags that the program runs with, as `deno task start` has them. */
export const FLAGS = (await output(Deno.execPath(), ["task", "-q", "flags"]))
  .stdout.trim().split(/\s+/);

/** What a process that ended has left. */
export interface Output {
  code: number;
  signal: Deno.Signal | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end, or ends it. */
export async function output(
  command: string,
  args: string[],
  options: Deno.CommandOptions = {},
): Promise<Output> {
  const result = await new Deno.Command(command, {
    args,
    stdin: "null",
    signal: AbortSignal.timeout(COMMAND_DEADLINE),
    ...options,
    env: { NO_COLOR: "1", ...options.env },
  }).output();
  const { code, signal } = result;
  const decoder = new TextDecoder();
  const stdout = decoder.decode(result.stdout);
  const stderr = decoder.decode(result.stderr);
  return { code, signal, stdout, stderr };
}

/** Whether a test that needs a command is left out: never in CI. */
export async function isMissing(name: string): Promise<boolean> {
  if (Deno.env.has("CI")) return false;
  return (await output("which", [name])).code !== 0;
}

/** The command that runs the program, for {@linkcode output} and the like. */
export function command(args: string[]): [command: string, args: string[]] {
  return [Deno.execPath(), ["run", ...FLAGS, "main.ts", ...args]];
}

/**
 * Waits for a condition.
 *
 * @param explain Tells what there is to know when it is not met in time.
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => String(condition),
): Promise<void> {
  const end = performance.now() + DEADLINE;
  while (!await condition()) {
    if (performance.now() > end) {
      throw new Error(`Waited in vain: ${explain()}`);
    }
    await delay(5);
  }
}

/** A started program. */
export class Program implements AsyncDisposable {
  /** All that it printed so far. */
  stdout = "";
  stderr = "";
  readonly #child: Deno.ChildProcess;
  readonly #read: [stdout: Promise<void>, stderr: Promise<void>];
  #closing = false;
  #reading = Promise.resolve();

  /** Starts it on a free port and waits until it listens. */
  static async start(
    args: string[] = [],
    options: { wrap?: string[]; env?: Record<string, string> } = {},
  ): Promise<Program> {
    const [name, rest] = command(["--port", "0", ...args]);
    const [first, ...others] = [...options.wrap ?? [], name, ...rest];
    const program = new Program(first!, others, options.env);
    await program.listening();
    return program;
  }

  /** Starts a command whose console is the end of a file. */
  static appendingTo(file: string, command: string[]): Program {
    return new Program("sh", ["-c", 'exec "$@" >>"$0"', file, ...command]);
  }

  constructor(command: string, args: string[], env?: Record<string, string>) {
    this.#child = new Deno.Command(command, {
      args,
      env: { NO_COLOR: "1", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#read = [
      this.#collect(this.#child.stdout, (text) => this.stdout += text),
      this.#collect(this.#child.stderr, (text) => this.stderr += text),
    ];
  }

  async #collect(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    add: (text: string) => void,
  ): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      add(text);
      await this.#reading;
      if (this.#closing) break;
    }
  }

  /** Stops to read what it prints. */
  pause(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reading = promise;
    this.resume = resolve;
  }

  /** Reads on. */
  resume: () => void = () => {};

  /** Goes away at the next line, as `head` does. */
  closeConsole(): void {
    this.#closing = true;
    this.#read[0].then(() => this.consoleIsClosed = true);
  }

  consoleIsClosed = false;

  get pid(): number {
    return this.#child.pid;
  }

  /** The addresses that the start report names. */
  get addresses(): string[] {
    return [...this.stdout.matchAll(/Running on (http:\/\/[^\s/]+)/g)].map((
      [, a],
    ) => a!);
  }

  /** The loopback address. */
  get origin(): string {
    return this.addresses[0]!;
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** What it logged after the start report, in lines. */
  get lines(): string[] {
    return this.stdout.split("Press CTRL+C to quit\n")[1]?.split("\n")
      .slice(0, -1) ?? [];
  }

  /** Waits for the end of the start report. */
  async listening(): Promise<void> {
    await this.waitFor(() => this.stdout.includes("Press CTRL+C"));
  }

  /** Waits for a condition, and fails with what it printed. */
  async waitFor(condition: () => boolean): Promise<void> {
    await waitFor(condition, () => this.stdout.slice(-2000) + this.stderr);
  }

  /** Waits for a number of lines and returns them. */
  async waitForLines(count: number): Promise<string[]> {
    await this.waitFor(() => this.lines.length >= count);
    return this.lines;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for its end, with all its output read. */
  async end(): Promise<Deno.CommandStatus> {
    const status = await this.#child.status;
    await Promise.all(this.#read);
    return status;
  }

  /** Sends a signal, and waits for its end. */
  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    this.kill(signal);
    return await this.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.kill("SIGKILL");
    } catch {
      // It has ended
    }
    await this.end();
  }
}

/** Asks the running permissions_probe.ts what it was permitted to do. */
export async function probe(program: Program): Promise<string[]> {
  await program.listening();
  const response = await fetch(program.origin);
  const outcomes: [string, string][] = Object.entries(await response.json());
  if (outcomes.length === 0) throw new Error("It tried nothing");
  return outcomes.filter(([, outcome]) => outcome !== "NotCapable")
    .map(([attempt, outcome]) => `${attempt}: ${outcome}`);
}

/** Finds a port that is free, for a program that cannot be asked for its own. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Sends all of the bytes. */
export async function send(
  connection: Deno.Conn,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    sent += await connection.write(bytes.subarray(sent));
  }
}

/**
 * Sends a request over a TCP connection and returns all that comes back until the
 * server closes it, or until the condition holds.
 *
 * @throws {Error} If the connection breaks.
 */
export async function exchange(
  port: number,
  request: string,
  until: (response: string) => boolean = () => false,
): Promise<string> {
  const connection = await Deno.connect({ port });
  const timer = setTimeout(() => connection.closeWrite(), DEADLINE);
  try {
    await send(connection, new TextEncoder().encode(request));
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(64 * 1024);
    let response = "";
    while (!until(response)) {
      const count = await connection.read(buffer);
      if (count === null) break;
      response += decoder.decode(buffer.subarray(0, count), { stream: true });
    }
    return response;
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

// Deno keeps /proc from everybody without --allow-all, other programs do not

/** Returns the resident memory of a process, in MB (10^6 bytes). */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await output("grep", ["VmRSS", `/proc/${pid}/status`]);
  return Number(stdout.match(/(\d+) kB/)![1]) * 1024 / 1e6;
}

/** Returns how many file descriptors a process has open. */
export async function countDescriptors(pid: number): Promise<number> {
  const { stdout } = await output("ls", [`/proc/${pid}/fd`]);
  return stdout.trim().split("\n").length;
}
