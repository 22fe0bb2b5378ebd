// Starts the program as its users do.

import { exchange, LAST_GET } from "./network.ts";
import { Process, type ProcessOptions } from "./process.ts";
import { DEADLINE_MS, waitFor } from "./wait.ts";

/** Returns the Deno flags that `deno task start` uses. */
export function getDenoFlags(): string[] {
  const files = [".tools/service_flags", ".tools/std/flags"];
  return files.flatMap((file) =>
    Deno.readTextFileSync(file).split(/\s+/).filter(Boolean)
  );
}

/** Returns the command that runs the program, with more flags for Deno. */
export function programCommand(
  args: string[],
  flags: string[] = [],
): [command: string, args: string[]] {
  const run = ["run", ...getDenoFlags(), ...flags, "main.ts"];
  return [Deno.execPath(), [...run, ...args]];
}

/** Returns the address of code, for `deno run`. */
export const urlOf = (code: string): string =>
  `data:text/javascript,${encodeURIComponent(code)}`;

/** Returns the Deno flag that runs code before the program. */
export const preload = (code: string): string => `--preload=${urlOf(code)}`;

const ACCESS_LINE =
  /^(\S+) - - \[[^\]]+\] "((?:[ !#-[\]-~]|\\.)+) HTTP\/1\.1" (\d{3}) -$/;

/**
 * Returns what a line of the access log says, such as "127.0.0.1 GET /datasensor 200", or
 * undefined if it is none.
 */
export function parseAccessLine(line: string): string | undefined {
  return line.match(ACCESS_LINE)?.slice(1).join(" ");
}

/** A process that runs the program, directly or through other commands. */
export class Program extends Process {
  /** Starts it at a free port, and waits until it listens. */
  static async start(
    args: string[] = [],
    options: ProcessOptions & { wrap?: string[]; flags?: string[] } = {},
  ): Promise<Program> {
    const { wrap = [], flags } = options;
    const run = programCommand(["--port", "0", ...args], flags).flat();
    const [first, ...others] = [...wrap, ...run];
    const program = new Program(first!, others, options);
    return await program.untilReady(() => program.waitUntilListening());
  }

  /** The first address that the start report lists. */
  get url(): string {
    return this.stdout.match(/Running on (http:\S+)/)![1]!;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The lines that it logged after the start report. */
  get lines(): string[] {
    return this.stdout.split("Press CTRL+C to quit\n")[1]?.split("\n")
      .slice(0, -1) ?? [];
  }

  get requests(): string[] {
    return this.lines.flatMap((line) => parseAccessLine(line) ?? []);
  }

  /** The other ones of these lines, such as warnings. */
  get messages(): string[] {
    return this.lines.filter((line) => !parseAccessLine(line));
  }

  async waitUntilListening(limit = DEADLINE_MS): Promise<void> {
    await this.waitForMatch(/Press CTRL\+C/, limit);
  }

  /** Waits until a GET over a new connection is answered with a body. */
  async waitForAnswer(
    body = '"Sensor data"',
    limit = DEADLINE_MS,
  ): Promise<void> {
    const ask = () => exchange(this.port, LAST_GET).catch(String); // refused
    const isAnswer = (answer: string) => answer.endsWith(`\r\n\r\n${body}`);
    await waitFor(`the answer ${body.slice(0, 100)}`, ask, isAnswer, limit);
  }

  async waitForLines(count: number): Promise<void> {
    const lines = () => this.lines.length;
    await waitFor(`${count} lines`, lines, (found) => found >= count);
  }
}
