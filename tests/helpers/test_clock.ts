// A clock that tests move.

import type { Clock } from "../../src/clock.ts";

/** A clock that stands still until a test moves it. Its delays take no time. */
export class TestClock implements Clock {
  monotonicMs = 1000;
  wallMs = Date.UTC(2026, 10, 20, 17, 14, 56);

  now = () => this.monotonicMs;
  readonly wallTime = () => this.wallMs;
  delay = (_milliseconds: number): Promise<void> => Promise.resolve();

  /** Lets time pass. */
  pass(milliseconds: number): void {
    this.monotonicMs += milliseconds;
    this.wallMs += milliseconds;
  }
}
