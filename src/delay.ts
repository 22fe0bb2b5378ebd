/** Resolves after a time. */
export function delay(milliseconds: number): Promise<void> {
  // setTimeout would load Node's timers: 8 ms at the start, and 4 MB (Deno 2.9)
  return new Promise((resolve) => {
    AbortSignal.timeout(milliseconds).onabort = () => resolve();
  });
}
