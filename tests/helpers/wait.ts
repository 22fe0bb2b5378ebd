// Waits with a deadline. A wait that fails says what it waited for, and what it saw last.

/**
 * How long anything may take, in ms. Nothing takes more than a few seconds on a machine
 * that only tests; the rest is for one that is slow, or does other work as well.
 */
export const DEADLINE_MS = 180_000;

/** Resolves after a time. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits until a value is as expected, by default truthy, and returns it. */
export async function waitFor<T>(
  what: string,
  read: () => T | Promise<T>,
  isExpected: (value: T) => boolean = Boolean,
  limit = DEADLINE_MS,
): Promise<T> {
  const start = performance.now();
  let seen = "";
  while (true) {
    const value = await within(read(), () => what + seen, limit);
    if (isExpected(value)) return value;
    seen = typeof value === "string" ? value : Deno.inspect(value);
    seen = `\nThe last value: ${tail(seen)}`;
    const passed = performance.now() - start;
    if (passed > limit) throw late(what + seen, limit);
    await delay(Math.max(5, passed / 50)); // a long wait may be 2 % longer
  }
}

/** Returns what a promise resolves to, or throws if that takes too long, in ms. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE_MS,
): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const fail = () => timeout.reject(late(explain(), limit));
  const timer = setTimeout(fail, limit);
  return await Promise.race([promise, timeout.promise])
    .finally(() => clearTimeout(timer));
}

/** Returns the end of a text, as much of it as is shown. */
export const tail = (text: string): string => text.trimEnd().slice(-2000);

function late(what: string, limit: number): Error {
  return new Error(`Waited ${limit / 1000} s for ${what}`);
}
