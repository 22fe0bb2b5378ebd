// Waits with a deadline. A wait that fails says what it waited for, the last value that
// it saw, and what the processes of the test have printed.

/**
 * How long anything may take, in ms. Nothing takes more than a few seconds on a machine
 * that only tests; the rest is for one that does other work as well.
 */
export const DEADLINE_MS = 60_000;

/** A process that takes part in a test. */
export interface Participant {
  /** Says that it has ended although nobody wanted that, if so. */
  readonly failure: string | undefined;
  /** Returns its name and the end of what it has printed. */
  describe(): string;
}

/** What takes part in the running test. */
export const participants = new Set<Participant>();

/** Resolves after a time. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Waits until a value is as expected, and returns it.
 *
 * @param what What is awaited, such as "a reading of each board".
 * @param read Reads the value.
 * @param isExpected By default, tells whether the value is truthy.
 * @param pace How long to wait, and between two looks, in ms.
 *
 * @throws {Error} At the deadline, or at once if a process ends that should not.
 */
export async function waitFor<T>(
  what: string,
  read: () => T | Promise<T>,
  isExpected: (value: T) => boolean = Boolean,
  { limit = DEADLINE_MS, pause = 5 } = {},
): Promise<T> {
  const start = performance.now();
  let seen = "";
  const explain = () => what + seen;
  while (true) {
    // Before the value is read: what has ended by then will not change it any more
    const failure = [...participants].find(({ failure }) => failure)?.failure;
    const value = await within(read(), explain, limit);
    if (isExpected(value)) return value;
    seen = show(value);
    if (failure) {
      throw failed(`${failure} while the test waits for ${explain()}`);
    }
    const passed = performance.now() - start;
    if (passed > limit) throw late(explain(), limit);
    await delay(Math.max(pause, passed / 50)); // a long wait may be 2 % longer
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

/** Returns the end of a text, as much of it as is shown: lines that repeat once. */
export function tail(text: string): string {
  const short = text.slice(-20_000).trimEnd()
    .replace(/^(.+)(?:\n\1)+$/gm, "$1 (repeatedly)");
  return short.split("\n").slice(-20).join("\n").slice(-2000);
}

/** Returns what was seen instead of an expected value, unless that says nothing. */
function show(value: unknown): string {
  if (value === false || value === undefined) return "";
  const text = typeof value === "string" ? value : Deno.inspect(value);
  return `\nThe last value: ${tail(text)}`;
}

function late(what: string, limit: number): Error {
  return failed(`Waited ${limit / 1000} s for ${what}`);
}

/** Returns an error that also shows what everything that takes part has printed. */
function failed(message: string): Error {
  const described = [...participants].map((it) => it.describe());
  return new Error([message, ...described].join("\n\n"));
}
