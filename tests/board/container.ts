// A board that is a container, and a PC in its network: image, boot, commands, end.
// container.sh has the details.

import { keep } from "./cache.ts";

/** The releases of Debian that boards have, with their numbers. */
export const RELEASES = { bookworm: 12, trixie: 13 } as const;

/** A release of Debian. */
export type Release = keyof typeof RELEASES;

/** Who types a command: on the PC, or at the board, which is `ssh BOARD`. */
export type Prompt = "pc" | "board";

const SCRIPT = "tests/board/container.sh";

/** How long a board may take to boot: many boot at once. */
const BOOT_TIMEOUT_MS = 120_000;

/** Aborted when the user wants everything to end. */
export const interruption = new AbortController();

/** Where the images are kept, which all clones share. */
const CACHE = `${
  Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME")}/.cache`
}/datasensor-board`;

/** Returns the path of a release's image, which is made if it is missing. */
export async function makeImage(release: Release): Promise<string> {
  const path = `${CACHE}/${release}`;
  await keep(path, await Deno.readTextFile(SCRIPT), async () => {
    const command = [SCRIPT, "image", path, release];
    const { code, stderr } = await run(command, interruption.signal);
    if (code !== 0) throw new Error(`No image of ${release}:\n${stderr}`);
  });
  return path;
}

/** Where a board is mounted, in its own namespaces only. */
const FOLDER = `${CACHE}/board`;

/** How a command ended, and what it printed. */
export interface Output {
  readonly code: number;
  readonly text: string;
}

/** A running board, and the PC. */
export class Container implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  /** Leads into its namespaces. */
  #enter: string[] = [];

  private constructor(image: string) {
    this.#process = new Deno.Command(SCRIPT, {
      args: ["boot", image, FOLDER],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    interruption.signal.addEventListener("abort", this.#end);
  }

  /** Ends it, and all commands that run in it. */
  #end = async (): Promise<void> => {
    await this.#input.close().catch(() => {}); // it has ended
  };

  /** Boots a board from an image, and links a folder as `dist` on the PC. */
  static async boot(image: string, dist: string): Promise<Container> {
    await Deno.mkdir(FOLDER, { recursive: true });
    await using stack = new AsyncDisposableStack();
    const container = stack.use(new Container(image));
    await container.#waitForNamespaces();
    await container.type("pc", `ln -s '${dist}' dist`);
    const end = performance.now() + BOOT_TIMEOUT_MS;
    const look = () =>
      container.type("board", "systemctl is-system-running --wait");
    while (!/running|degraded/.test((await look()).text)) {
      if (performance.now() < end) continue;
      const { text } = await container.type("pc", "tail -n 20 ../console");
      throw new Error(`The board does not boot:\n${text}`);
    }
    stack.move(); // the caller disposes of it
    return container;
  }

  /** Waits until they exist: the script then prints the id of a process in them. */
  async #waitForNamespaces(): Promise<void> {
    for await (const chunk of this.#process.stdout) {
      const target = new TextDecoder().decode(chunk).trim();
      this.#enter = ["nsenter", "-t", target, "-m", "-n", "-p", "-C"];
      return;
    }
    throw new Error("The container does not start");
  }

  /** Types a command, and returns what it prints, within a time in ms. */
  async type(
    prompt: Prompt,
    command: string,
    limit = BOOT_TIMEOUT_MS,
  ): Promise<Output> {
    interruption.signal.throwIfAborted();
    const script = `cd ${FOLDER}/pc; exec 2>&1; ${
      prompt === "pc" ? 'eval "$0"' : 'ssh BOARD "exec 2>&1; $0"'
    }`;
    const bash = ["bash", "-c", script, command];
    const args = [...this.#enter, "timeout", `${limit / 1000}`, ...bash];
    const { code, stdout, stderr } = await run(args);
    return { code, text: stdout + stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    interruption.signal.removeEventListener("abort", this.#end);
    await this.#end();
    await this.#process.status;
    await this.#process.stdout.cancel();
  }
}

/** Runs a command until it ends, or a signal does that. */
async function run(
  [command, ...args]: string[],
  signal?: AbortSignal,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(command!, {
    args,
    stdin: "null",
    signal,
    env: { LC_ALL: "C.UTF-8" },
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}
