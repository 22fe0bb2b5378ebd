// Warnings about problems that may last.

import type { Logger } from "@std/log/logger";

const REMINDER_MS = 60_000; // how often an unchanged problem is logged

/** Creates functions that log warnings, but the same problem only once a minute. */
export function limitWarnings(logger: Logger, now: () => number) {
  const warnedAt = new Map<string, number>(); // by problem
  return {
    /** Logs a problem, with details that may differ from one time to the next. */
    warn(problem: string, details = () => ""): void {
      const time = now();
      if (time - (warnedAt.get(problem) ?? -Infinity) < REMINDER_MS) return;
      warnedAt.set(problem, time);
      logger.warn(problem + details());
    },
    /** Logs each problem again when it comes back. */
    forget: () => warnedAt.clear(),
  };
}
