// Waits for conditions and promises with a deadline, and paces what tests do.

/** How long anything may take while the processors are idle, in ms. */
export const DEADLINE_MS = 10_000;

/** How long anything may take on a busy machine, in ms. */
export const BUSY_DEADLINE_MS = 60_000;

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Returns for how long a processor was idle since the machine was started, in ms, on
 * average. Without /proc, time is taken as idle.
 */
function idleTime(): number {
  try {
    const lines = Deno.readTextFileSync("/proc/stat").match(/^cpu\d.*/gm)!;
    const ticks = lines.map((line) => Number(line.split(" ")[4])); // of 10 ms
    return 10 * ticks.reduce((sum, count) => sum + count, 0) / ticks.length;
  } catch {
    return performance.now();
  }
}

/**
 * A limit of time that a busy machine extends. What could have run for as long as the
 * limit, because the processors were idle, is not late because of other processes.
 */
class Deadline {
  readonly #limit: number;
  readonly #start = performance.now();
  readonly #idleAtStart = idleTime();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get elapsed(): number {
    return performance.now() - this.#start;
  }

  get isOver(): boolean {
    if (this.elapsed < this.#limit) return false;
    return this.elapsed >= BUSY_DEADLINE_MS ||
      idleTime() - this.#idleAtStart >= this.#limit;
  }
}

/** Waits for a condition, or throws with details if it is not met in time. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => String(condition),
  limit = DEADLINE_MS,
): Promise<void> {
  const deadline = new Deadline(limit);
  while (!await within(condition(), explain, limit)) {
    if (deadline.isOver) throw new Error(`Timed out: ${explain()}`);
    await delay(Math.max(5, deadline.elapsed / 50)); // a long wait is 2 % longer
  }
}

/** Returns what a promise resolves to, or throws if that takes too long. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const deadline = new Deadline(limit);
  const timer = setInterval(() => {
    if (deadline.isOver) reject(new Error(`Timed out: ${explain()}`));
  }, Math.min(limit, 100));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearInterval(timer);
  }
}
