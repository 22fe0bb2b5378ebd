// An input whose chunks and pauses tests determine.

import { assert } from "@std/assert";
import type { Input } from "../../src/sensor/line_reader.ts";
import type { TestClock } from "./test_clock.ts";

/** What a read of the input returns; null is its end, a number a pause in ms. */
export type Chunk = string | Error | number | null;

export class TestInput implements Input {
  readonly #chunks: Chunk[] = [];
  #wake: (() => void) | undefined; // the read that waits

  constructor(private readonly clock: TestClock) {}

  /** Whether a read waits for more. */
  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  /** Adds to the input. */
  push(...chunks: Chunk[]): void {
    this.#chunks.push(...chunks);
    this.#wake?.();
  }

  read = async (room: Uint8Array): Promise<number | null> => {
    assert(room.length > 0);
    while (this.#chunks.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
    }
    const chunk = this.#chunks.shift()!;
    if (typeof chunk === "number") {
      this.clock.skip(chunk);
      return await this.read(room);
    }
    if (chunk instanceof Error) throw chunk;
    if (chunk === null) return null;
    const { read, written } = new TextEncoder().encodeInto(chunk, room);
    if (read < chunk.length) this.#chunks.unshift(chunk.slice(read));
    return written;
  };
}
