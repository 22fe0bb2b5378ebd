// Waits with a deadline. A wait that fails says what it waited for, the last value that
// it saw, and what everything that takes part in the test has printed.

import "./suppressed_error.ts";

/**
 * How long anything may take, in ms. Nothing takes more than a few seconds on a machine
 * that only tests; the rest is for one that does other work as well.
 */
export const DEADLINE_MS = 60_000;

/** Returns the end of a text, as much of it as is shown: lines that repeat once. */
export function tail(text: string): string {
  const short = text.slice(-20_000).trimEnd()
    .replace(/^(.+)(?:\n\1)+$/gm, "$1 (repeatedly)");
  return short.split("\n").slice(-20).join("\n").slice(-2000);
}

/** What takes part in a test, such as a process or a board. */
export interface Participant {
  /** Says that it has ended although nobody wanted that, if so. */
  readonly failure: string | undefined;
  /** Returns its name and the end of what it has printed. */
  describe(): string | Promise<string>;
}

/** What takes part in the running test. */
export const participants = new Set<Participant>();

/** Resolves after a time, or when a signal is aborted. */
export function delay(
  milliseconds: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** How long to wait, and between two looks, in ms. */
interface Pace {
  limit?: number;
  pause?: number;
}

/**
 * Waits until a value is as expected, and returns it.
 *
 * @param what What is awaited, such as "a reading of each board".
 * @param read Reads the value.
 * @param isExpected By default, tells whether the value is truthy.
 *
 * @throws {Error} At the deadline, or at once if a process ends that should not.
 */
export async function waitFor<T>(
  what: string,
  read: () => T | Promise<T>,
  isExpected: (value: T) => boolean = Boolean,
  { limit = DEADLINE_MS, pause = 5 }: Pace = {},
): Promise<T> {
  const start = performance.now();
  const end = new AbortController();
  let seen = "";
  const explain = () => what + seen;
  const poll = async () => {
    while (true) {
      // Before the value is read: what has ended by then will not change it any more
      const [failure] = [...participants].flatMap(({ failure }) =>
        failure ?? []
      );
      const value = await read();
      if (isExpected(value) || end.signal.aborted) return value;
      seen = show(value);
      if (failure) {
        throw await failed(`${failure} while the test waits for ${explain()}`);
      }
      // A long wait may be 2 % longer
      const wait = Math.max(pause, (performance.now() - start) / 50);
      await delay(wait, end.signal);
    }
  };
  return await within(poll(), explain, limit).finally(() => end.abort());
}

/** Returns what was seen instead of an expected value, unless that says nothing. */
function show(value: unknown): string {
  if (value === false || value === undefined) return "";
  const text = typeof value === "string" ? value : Deno.inspect(value);
  return `\nThe last value: ${tail(text)}`;
}

/** Returns what a promise resolves to, or throws if that takes too long. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE_MS,
): Promise<T> {
  const end = new AbortController();
  const fail = async () => {
    await delay(limit, end.signal);
    // Ignored if the promise has settled, which ends the delay
    if (end.signal.aborted) return undefined as never;
    throw await failed(`Waited ${limit / 1000} s for ${explain()}`);
  };
  const late = fail();
  try {
    return await Promise.race([promise, late]);
  } finally {
    end.abort();
  }
}

let isDescribing = false;

/** Returns an error that also shows what everything that takes part has printed. */
async function failed(message: string): Promise<Error> {
  if (isDescribing) return new Error(message); // it is a description that fails
  isDescribing = true;
  const parts = [...participants].map(async (it) => await it.describe());
  const described = await Promise.all(parts).finally(() =>
    isDescribing = false
  );
  return new Error([message, ...described].join("\n\n"));
}
