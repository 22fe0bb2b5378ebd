// Starts the program as its users do.

import { type AccessLine, parseAccessLine } from "./access_line.ts";
import { exchange, LAST_GET } from "./network.ts";
import { Process, type ProcessOptions } from "./process.ts";

let denoFlags: string[] | undefined;

/** Returns the Deno flags that `deno task start` uses. */
export function getDenoFlags(): string[] {
  if (denoFlags) return denoFlags;
  const args = ["task", "-q", "_service_flags"];
  const { stdout } = new Deno.Command(Deno.execPath(), { args }).outputSync();
  return denoFlags = new TextDecoder().decode(stdout).trim().split(/\s+/);
}

/** An executable to test instead of the sources. */
const EXECUTABLE = Deno.env.get("DATASENSOR_EXECUTABLE");

/** Returns the command that runs the program, with more flags for Deno. */
export function programCommand(
  args: string[],
  flags: string[] = [],
): [command: string, args: string[]] {
  if (EXECUTABLE) return [EXECUTABLE, args];
  const run = ["run", ...getDenoFlags(), ...flags, "main.ts"];
  return [Deno.execPath(), [...run, ...args]];
}

/** Returns the Deno flag that runs code before the program. */
export function preload(code: string): string {
  return `--preload=data:text/javascript,${encodeURIComponent(code)}`;
}

const UNIT = ".board/package/usr/lib/systemd/system/datasensor.service";

/** How many files the unit allows the program to open, and a command for that. */
export const OPEN_FILES = Number(
  (await Deno.readTextFile(UNIT)).match(/LimitNOFILE=(\d+)/)![1],
);
const LIMIT = `ulimit -n ${OPEN_FILES}; exec "$@"`;
export const WITH_OPEN_FILES = ["sh", "-c", LIMIT, "sh"];

/** Returns a command that makes another one's descriptor non-blocking. */
export function nonBlocking(descriptor: number): string[] {
  const code = `import os, sys
os.set_blocking(${descriptor}, False)
os.execvp(sys.argv[1], sys.argv[1:])`;
  return ["python3", "-c", code];
}

/** A script that runs a command with a full, unread pipe as standard error. */
export const WITH_FULL_STDERR = `
  pipe=$(mktemp -u)
  mkfifo "$pipe"
  exec 3<>"$pipe"
  rm "$pipe"
  dd if=/dev/zero of=/dev/fd/3 bs=4096 oflag=nonblock 2>/dev/null
  exec "$@" 2>&3 3>&-`;

/** A process that runs the program, directly or through other commands. */
export class Program extends Process {
  /** Starts it on a free port and waits until it listens. */
  static async start(
    args: string[] = [],
    options: ProcessOptions & { wrap?: string[]; flags?: string[] } = {},
  ): Promise<Program> {
    const { wrap = [], flags } = options;
    const run = programCommand(["--port", "0", ...args], flags).flat();
    const [first, ...others] = [...wrap, ...run];
    await using stack = new AsyncDisposableStack();
    const program = stack.use(new Program(first!, others, options));
    await program.waitUntilListening();
    stack.move(); // the caller disposes of it
    return program;
  }

  /** The addresses that the start report lists. */
  get addresses(): string[] {
    const matches = this.stdout.matchAll(/Running on (http:\S+)/g);
    return Array.from(matches, ([, address]) => address!);
  }

  get url(): string {
    return this.addresses[0]!;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The lines that it logged after the start report. */
  get lines(): string[] {
    return this.stdout.split("Press CTRL+C to quit\n")[1]?.split("\n")
      .slice(0, -1) ?? [];
  }

  /** The requests among these lines. */
  get requests(): AccessLine[] {
    return this.lines.flatMap((line) => parseAccessLine(line) ?? []);
  }

  /** The other ones of these lines, such as warnings. */
  get messages(): string[] {
    return this.lines.filter((line) => !parseAccessLine(line));
  }

  /** Waits until the start report is complete. */
  async waitUntilListening(): Promise<void> {
    await this.waitFor(() => this.stdout.includes("Press CTRL+C"));
  }

  /** Waits until a GET over a new connection is answered with a body. */
  async waitForAnswer(body = '"Sensor data"'): Promise<void> {
    let answer = "none";
    await this.waitFor(async () => {
      answer = await exchange(this.port, LAST_GET).catch(String); // refused
      return answer.endsWith(`\r\n\r\n${body}`);
    }).catch((error) => {
      throw new Error(`The last answer: ${answer}`, { cause: error });
    });
  }

  /** Waits until it has logged a number of lines, and returns all lines. */
  async waitForLines(count: number): Promise<string[]> {
    await this.waitFor(() => this.lines.length >= count);
    return this.lines;
  }
}
