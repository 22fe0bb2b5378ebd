// The buffer that lines wait in, which never makes a request wait.

import { delay } from "./delay.ts";

/**
 * How many bytes of lines wait at most, besides those that are being written.
 * The system gives memory for what is used of it.
 */
export const CAPACITY = 8 * 1024 * 1024;

const COLLECT_MS = 100; // before a few lines are written together
const WRITE_LENGTH = 64 * 1024; // so many bytes of lines are written at once
const RETRY_MS = 500; // before a sink that failed is tried again
const LF = 0x0a;

/** Takes bytes and returns how many it took, as `Deno.stdout.write` does. */
export type Sink = (bytes: Uint8Array) => Promise<number>;

/**
 * Writes lines without anybody waiting for it, many at once. Those that come
 * while the buffer is full are dropped and counted.
 */
export class LineWriter {
  readonly #sink: Sink;
  readonly #onDropped: (count: number) => void;
  readonly #encoder = new TextEncoder();
  #filling = new Uint8Array(CAPACITY);
  #emptying = new Uint8Array(CAPACITY); // what the sink is taking
  #length = 0; // of what is in #filling
  #dropped = 0;
  #isCollecting = false;
  #writing: Promise<void> | undefined;

  /**
   * @param sink When it fails, it is tried again.
   * @param onDropped Is told, once there is room, how many lines were dropped.
   */
  constructor(sink: Sink, onDropped: (count: number) => void) {
    this.#sink = sink;
    this.#onDropped = onDropped;
  }

  /** Takes a line, without its end. It never waits and never throws. */
  write(line: string): void {
    const room = this.#filling.subarray(this.#length);
    const { read, written } = this.#encoder.encodeInto(`${line}\n`, room);
    // There was room for all of it, its LF too
    if (read > line.length) this.#length += written;
    else this.#dropped++;
    if (this.#length > WRITE_LENGTH) this.#start();
    if (!this.#isCollecting) this.#collect();
  }

  /** Resolves when every line so far is written. */
  async flush(): Promise<void> {
    this.#start();
    await this.#writing;
  }

  /** Awaited by nobody: while the sink is stuck, promises would pile up. */
  async #collect(): Promise<void> {
    this.#isCollecting = true;
    await delay(COLLECT_MS);
    this.#isCollecting = false;
    this.#start();
  }

  #start(): void {
    if (this.#length > 0) this.#writing ??= this.#empty();
  }

  async #empty(): Promise<void> {
    do {
      let chunk = WRITE_LENGTH;
      let bytes = this.#filling.subarray(0, this.#length);
      [this.#filling, this.#emptying] = [this.#emptying, this.#filling];
      this.#length = 0;
      if (this.#dropped > 0) {
        this.#onDropped(this.#dropped);
        this.#dropped = 0;
      }
      while (bytes.length > 0) {
        try {
          const end = bytes.indexOf(LF, chunk - 1) + 1 || bytes.length;
          bytes = bytes.subarray(await this.#sink(bytes.subarray(0, end)));
        } catch {
          // The disk is full, or the reader is gone. What was written is not
          // told and comes again: of these bytes, a line at most
          chunk = 1;
          await delay(RETRY_MS);
        }
      }
    } while (this.#length > 0);
    this.#writing = undefined;
  }
}
