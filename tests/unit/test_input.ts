// An input whose chunks tests determine.

import { assert } from "@std/assert";
import type { Input } from "../../src/sensor/line_reader.ts";

/** What a read of the input returns, or throws; null is its end. */
export type Chunk = string | Error | null;

export class TestInput implements Input {
  readonly #chunks: Chunk[] = [];
  #wake: (() => void) | undefined; // the read that waits

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
    if (chunk instanceof Error) throw chunk;
    if (chunk === null) return null;
    const { read, written } = new TextEncoder().encodeInto(chunk, room);
    if (read < chunk.length) this.#chunks.unshift(chunk.slice(read));
    return written;
  };
}
