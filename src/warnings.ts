// Warnings about problems that may last.

import type { Logger } from "@std/log/logger";

const REMINDER_MS = 60_000; // how often an unchanged problem is logged

/**
 * Creates a function that logs a problem, but the same one only once a minute. The
 * details may differ from one time to the next.
 */
export function limitWarnings(logger: Logger, now: () => number) {
  const warnedAt = new Map<string, number>(); // by problem
  return (problem: string, details = () => ""): void => {
    const time = now();
    if (time - (warnedAt.get(problem) ?? -Infinity) < REMINDER_MS) return;
    warnedAt.set(problem, time);
    logger.warn(problem + details());
  };
}
