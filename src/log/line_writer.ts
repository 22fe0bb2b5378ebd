import type { Clock } from "../clock.ts";

/**
 * The size of each of two buffers. Untouched pages take no memory; as strings, these lines
 * would fill most of V8's heap.
 */
export const CAPACITY_BYTES = 8 * 1024 * 1024;

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
  #filling = new Uint8Array(CAPACITY_BYTES);
  #draining = new Uint8Array(CAPACITY_BYTES); // what the sink is writing
  #length = 0; // how many bytes of #filling are lines
  #dropped = 0;
  #batchBytes = BATCH_BYTES; // ATOMIC_BYTES once a write has failed
  #isCollecting = false; // more lines, before a batch is written
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
    if (this.#length >= BATCH_BYTES) this.#startDraining();
    if (!this.#isCollecting) this.#collect();
  }

  /** Resolves once all lines are written. */
  async flush(): Promise<void> {
    this.#startDraining();
    await this.#writing;
  }

  /** Adds a line to the buffer, and returns whether it fits. */
  #add(line: string): boolean {
    const room = this.#filling.subarray(this.#length);
    const { read, written } = this.#encoder.encodeInto(`${line}\n`, room);
    const fits = read === line.length + 1; // with its LF
    if (fits) this.#length += written;
    return fits;
  }

  async #collect(): Promise<void> {
    this.#isCollecting = true;
    await this.clock.delay(BATCH_DELAY_MS);
    this.#isCollecting = false;
    this.#startDraining();
  }

  #startDraining(): void {
    if (this.#length > 0) this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    do {
      const length = this.#length;
      // While the sink writes these lines, the next ones fill the other buffer
      [this.#filling, this.#draining] = [this.#draining, this.#filling];
      this.#length = 0;
      if (this.#dropped > 0) this.#add(this.formatDropped(this.#dropped));
      this.#dropped = 0;
      await this.#writeAll(this.#draining.subarray(0, length));
    } while (this.#length > 0);
    this.#writing = undefined;
  }

  async #writeAll(lines: Uint8Array): Promise<void> {
    for (let rest = lines; rest.length > 0;) {
      try {
        const batch = takeLines(rest, this.#batchBytes);
        rest = rest.subarray(await this.sink(batch));
      } catch (error) {
        // A failed write does not say how much it wrote, so the batch is written again. It
        // may fail again at any time: smaller batches then repeat less
        this.#batchBytes = ATOMIC_BYTES;
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
