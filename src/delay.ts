// A timer to await.

/**
 * Resolves after a time, in milliseconds.
 *
 * Not by setTimeout: Deno's loads Node.js's timers, which adds to the start and
 * to the memory of a program that needs nothing else of Node.js.
 */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    AbortSignal.timeout(milliseconds).onabort = () => resolve();
  });
}
