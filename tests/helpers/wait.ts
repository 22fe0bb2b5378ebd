// Waits for conditions and promises with a deadline, and paces what tests do.

/** How long anything may take on a machine that has nothing else to do, in ms. */
export const DEADLINE_MS = 10_000;

/** How long anything may take on a busy machine, in ms. */
export const BUSY_DEADLINE_MS = 60_000;

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

/**
 * Returns for how long a processor was idle since the machine was started, in ms, on
 * average. Where nothing tells, all time counts as idle.
 */
async function idleTime(): Promise<number> {
  // Deno does not permit tests to read /proc themselves
  const args = ["-s", "^cpu[0-9]", "/proc/stat"];
  const command = new Deno.Command("grep", { args, stderr: "null" });
  const { success, stdout } = await command.output();
  if (!success) return performance.now();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  const ticks = lines.map((line) => Number(line.split(" ")[4])); // of 10 ms
  return 10 * ticks.reduce((sum, count) => sum + count, 0) / ticks.length;
}

/**
 * Resolves when a limit is over, or when a signal is aborted. A busy machine gets more
 * time: in the second half of the limit, only the time counts in which the processors
 * were idle. What could have run then is not late because of other processes.
 */
async function expire(limit: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + Math.max(limit, BUSY_DEADLINE_MS);
  await delay(limit / 2, signal);
  if (signal.aborted) return;
  const start = await idleTime();
  while (!signal.aborted && performance.now() < end) {
    await delay(Math.min(limit / 20, 1000), signal);
    if (await idleTime() - start >= limit / 2) return;
  }
}

/** Waits for a condition, or throws with details if it is not met in time. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => String(condition),
  limit = DEADLINE_MS,
): Promise<void> {
  const start = performance.now();
  const end = new AbortController();
  const poll = async () => {
    while (!end.signal.aborted && !await condition()) {
      // A long wait may be 2 % longer
      await delay(Math.max(5, (performance.now() - start) / 50), end.signal);
    }
  };
  await within(poll(), explain, limit).finally(() => end.abort());
}

/** Returns what a promise resolves to, or throws if that takes too long. */
export async function within<T>(
  promise: T | Promise<T>,
  explain: () => string,
  limit = DEADLINE_MS,
): Promise<T> {
  const end = new AbortController();
  const late = expire(limit, end.signal);
  const fail = async () => {
    await late;
    // Ignored if the promise has settled, which ends the limit
    throw new Error(`Timed out: ${explain()}`);
  };
  try {
    return await Promise.race([promise, fail()]);
  } finally {
    end.abort();
    await late; // it may just be looking at the processors
  }
}
