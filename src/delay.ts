// A timer as a promise.

/**
 * Resolves after a time, in milliseconds.
 *
 * Deno's `setTimeout` loads Node's timers: 8 ms at the start, 4 MB of memory.
 */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    AbortSignal.timeout(milliseconds).onabort = () => resolve();
  });
}
