/** The clocks of the system, and its timer. Tests replace them. */
export const CLOCK = {
  /** Returns the time of the monotonic clock, which only moves on, in ms. */
  monotonicTime: () => performance.now(),

  /** Returns the time of the wall clock, which may be set, in ms since 1970. */
  wallTime: () => Date.now(),

  /** Resolves after a time, in ms. */
  delay(milliseconds: number): Promise<void> {
    // setTimeout would load Node's timers: 8 ms at the start, and 4 MB (Deno 2.9)
    return new Promise((resolve) => {
      AbortSignal.timeout(milliseconds).onabort = () => resolve();
    });
  },
};

/** The clocks and the timer, or what replaces them. */
export type Clock = typeof CLOCK;
