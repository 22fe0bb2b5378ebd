import type { Clock } from "../clock.ts";

/** How many characters wait at most: those of about 50,000 requests. */
export const CAPACITY_CHARACTERS = 4 * 1024 * 1024;

const BATCH_DELAY_MS = 100; // how long the first line of a batch waits for more
const BATCH_CHARACTERS = 64 * 1024; // of whole lines, unless a line is longer
const ATOMIC_BYTES = 4096; // a pipe takes all of them or none (PIPE_BUF in POSIX)
const RETRY_MS = 500; // pause after the sink has failed
const FULL_RETRY_MS = 10; // pause while a sink that does not block is full
const LF = 0x0a;

/** Writes bytes and returns how many it wrote, as `Deno.stdout.write` does. */
export type Sink = (bytes: Uint8Array) => Promise<number>;

/** Writes lines in batches to a slow console. Drops lines while its buffer is full. */
export class LineWriter {
  readonly #encoder = new TextEncoder();
  #lines: string[] = []; // with their ends
  #characters = 0; // of these lines
  #dropped = 0; // lines since the last one that fitted
  #hasFailed = false; // whether a write has ever failed
  #writing: Promise<void> | undefined;
  readonly #flushed = Promise.withResolvers<void>();

  /** @param formatDropped Returns a line that says how many lines were dropped. */
  constructor(
    private readonly sink: Sink,
    private readonly formatDropped: (count: number) => string,
    private readonly clock: Clock,
  ) {}

  /** Adds a line, without its end. Never blocks and never throws. */
  write(line: string): void {
    const fits = this.#characters + line.length < CAPACITY_CHARACTERS;
    if (fits) this.#add(line);
    else this.#dropped++;
    this.#writing ??= this.#writeBatches();
  }

  /** Resolves once all lines are written. From then on, no batch waits for more lines. */
  async flush(): Promise<void> {
    this.#flushed.resolve();
    await this.#writing;
  }

  #add(line: string): void {
    this.#lines.push(`${line}\n`);
    this.#characters += line.length + 1;
  }

  async #writeBatches(): Promise<void> {
    const delay = this.clock.delay(BATCH_DELAY_MS);
    await Promise.race([delay, this.#flushed.promise]);
    while (this.#lines.length > 0) {
      await this.#writeAll(this.#encoder.encode(this.#takeBatch()));
    }
    this.#writing = undefined;
  }

  /** Takes the next lines, up to the limit, or a longer one. */
  #takeBatch(): string {
    // The dropped lines came after all that wait
    if (this.#dropped > 0) this.#add(this.formatDropped(this.#dropped));
    this.#dropped = 0;
    let characters = 0;
    const end = this.#lines.findIndex(({ length }) =>
      (characters += length) > BATCH_CHARACTERS
    );
    const count = end < 0 ? this.#lines.length : Math.max(end, 1);
    const batch = this.#lines.splice(0, count).join("");
    this.#characters -= batch.length;
    return batch;
  }

  async #writeAll(lines: Uint8Array): Promise<void> {
    for (let rest = lines; rest.length > 0;) {
      try {
        const part = this.#hasFailed ? takeLines(rest, ATOMIC_BYTES) : rest;
        rest = rest.subarray(await this.sink(part));
      } catch (error) {
        // Deno does not say how much of a failed write has arrived: it is repeated, in smaller
        // parts so that little comes twice
        this.#hasFailed = true;
        const isFull = error instanceof Deno.errors.WouldBlock;
        await this.clock.delay(isFull ? FULL_RETRY_MS : RETRY_MS);
      }
    }
  }
}

/** Returns the whole lines within a limit, or the first line if that is longer. */
function takeLines(bytes: Uint8Array, limit: number): Uint8Array {
  const last = bytes.lastIndexOf(LF, limit - 1);
  return bytes.subarray(0, (last < 0 ? bytes.indexOf(LF) : last) + 1);
}
