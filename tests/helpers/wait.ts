// Waits for conditions and promises with a deadline, and paces what tests do.

/** How long anything may take on a busy machine. */
export const DEADLINE_MS = 60_000;

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits for a condition, or throws with details if it is not met in time. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => String(condition),
): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (!await within(condition(), explain)) {
    if (performance.now() > end) throw new Error(`Timed out: ${explain()}`);
    await delay(5);
  }
}

/** Returns what a promise resolves to, or throws if that takes too long. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timeOut = () => reject(new Error(`Timed out: ${explain()}`));
  const timer = setTimeout(timeOut, limit);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
