// A clock that tests move.

import type { Clock } from "../../src/clock.ts";

/** More microtasks than any chain of promises in src has. */
const TURNS = 50;

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  monotonicMs = 1000;
  wallMs = Date.UTC(2026, 10, 20, 17, 14, 56);
  readonly #timers: { at: number; wake: () => void }[] = [];

  monotonicTime = () => this.monotonicMs;
  readonly wallTime = () => this.wallMs;

  delay = (milliseconds: number): Promise<void> => {
    if (this.timers > 100) throw new Error("Nobody waits"); // for all of them
    const at = this.monotonicMs + milliseconds;
    return new Promise((wake) => this.#timers.push({ at, wake }));
  };

  /** The number of timers that are running. */
  get timers(): number {
    return this.#timers.length;
  }

  /** Moves the clocks on at once, before anything can happen. */
  skip(milliseconds: number): void {
    this.monotonicMs += milliseconds;
    this.wallMs += milliseconds;
  }

  /** Lets time pass: each timer ends in its turn, and what it wakes goes on. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.monotonicMs + milliseconds;
    while (true) {
      for (let turn = 0; turn < TURNS; turn++) await null;
      const [next] = this.#timers.sort((a, b) => a.at - b.at);
      const until = Math.min(next?.at ?? end, end);
      this.skip(Math.max(0, until - this.monotonicMs));
      if (!next || next.at > end) return;
      this.#timers.shift()!.wake();
    }
  }
}
