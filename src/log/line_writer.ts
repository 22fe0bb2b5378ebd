import type { Clock } from "../clock.ts";

/**
 * The size of the buffer: about 50,000 lines of requests. Pages of it that were never touched
 * take no memory.
 */
export const CAPACITY_BYTES = 4 * 1024 * 1024;

const BATCH_DELAY_MS = 100; // how long the first line of a batch waits for more
const BATCH_BYTES = 64 * 1024; // of whole lines, unless a line is longer
const ATOMIC_BYTES = 4096; // a pipe takes all of them or none (PIPE_BUF in POSIX)
const RETRY_MS = 500; // pause after the sink has failed
const FULL_RETRY_MS = 10; // pause while a sink that does not block is full
const LF = 0x0a;

/** Writes bytes and returns how many it wrote, as `Deno.stdout.write` does. */
export type Sink = (bytes: Uint8Array) => Promise<number>;

/** Writes lines in batches to a slow console. Drops lines while its buffer is full. */
export class LineWriter {
  readonly #encoder = new TextEncoder();
  readonly #buffer = new Uint8Array(CAPACITY_BYTES);
  #length = 0; // of the lines at its start
  #dropped = 0; // lines that did not fit, until a line says so
  #batchBytes = BATCH_BYTES; // ATOMIC_BYTES once a write has failed
  #endWait = () => {}; // for more lines
  #writing: Promise<void> | undefined;

  /** @param formatDropped Returns a line that says how many lines were dropped. */
  constructor(
    private readonly sink: Sink,
    private readonly formatDropped: (count: number) => string,
    private readonly clock: Clock,
  ) {}

  /** Adds a line, without its end. Never blocks and never throws. */
  write(line: string): void {
    if (!this.#add(line)) this.#dropped++;
    this.#writing ??= this.#writeBatches();
  }

  /** Resolves once all lines are written, without a wait for more. */
  async flush(): Promise<void> {
    this.#endWait();
    await this.#writing;
  }

  /** Adds a line to the buffer, and returns whether it fits. */
  #add(line: string): boolean {
    const text = `${line}\n`;
    const room = this.#buffer.subarray(this.#length);
    const { read, written } = this.#encoder.encodeInto(text, room);
    const fits = read === text.length;
    if (fits) this.#length += written;
    return fits;
  }

  async #writeBatches(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#endWait = resolve;
      this.clock.delay(BATCH_DELAY_MS).then(resolve);
    });
    while (this.#length > 0) {
      const lines = this.#buffer.subarray(0, this.#length);
      try {
        this.#remove(await this.sink(takeLines(lines, this.#batchBytes)));
        this.#reportDropped();
      } catch (error) {
        // Deno does not say how much of a failed write has arrived: it is repeated, in smaller
        // parts so that little comes twice
        this.#batchBytes = ATOMIC_BYTES;
        const isFull = error instanceof Deno.errors.WouldBlock;
        await this.clock.delay(isFull ? FULL_RETRY_MS : RETRY_MS);
      }
    }
    this.#writing = undefined;
  }

  /** Removes what was written from the start of the buffer, where nothing is read any more. */
  #remove(count: number): void {
    this.#buffer.copyWithin(0, count, this.#length);
    this.#length -= count;
  }

  /** Adds a line for the dropped ones, once it fits. Shorter ones may have fitted before. */
  #reportDropped(): void {
    if (this.#dropped === 0) return;
    if (this.#add(this.formatDropped(this.#dropped))) this.#dropped = 0;
  }
}

/** Returns the whole lines within a limit, or the first line if that is longer. */
function takeLines(bytes: Uint8Array, limit: number): Uint8Array {
  const last = bytes.lastIndexOf(LF, limit - 1);
  return bytes.subarray(0, (last < 0 ? bytes.indexOf(LF) : last) + 1);
}
