// Waits for what must happen, never for a fixed time and never without end.

/** How long what must happen may take, in ms, on a machine that is busy. */
export const DEADLINE = 60_000;

/** Resolves after a time, in ms. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Waits for a condition.
 *
 * @param explain Tells what there is to know when it is not met in time.
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => String(condition),
): Promise<void> {
  const end = performance.now() + DEADLINE;
  for (;;) {
    const left = end - performance.now();
    if (left < 0) throw new Error(`Waited in vain: ${explain()}`);
    if (await within(condition(), explain, left)) return;
    await delay(5);
  }
}

/** Returns what a promise resolves to, or throws when that takes too long. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Waited in vain: ${explain()}`)),
    limit,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
