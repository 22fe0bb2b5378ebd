// What is logged while the server cannot answer.

import type { Logger } from "@std/log/logger";
import { ListenError } from "./startup.ts";

const REMINDER_MS = 60_000; // how often an unchanged problem is logged

/** Logs why the server does not listen, and when it listens again. */
export function trackOutages(logger: Logger, now: () => number) {
  const loggedAt = new Map<string, number>(); // by message
  let downSince: number | undefined;
  return {
    /** Logs a failure, but the same one only once a minute, and waits. */
    failed(error: unknown): void {
      const isListenFailure = error instanceof ListenError;
      if (isListenFailure) downSince ??= now();
      const message = isListenFailure
        ? error.message.split("\n", 1)[0]!
        : `Closed all connections to recover from "${error}"`;
      if (now() - (loggedAt.get(message) ?? -Infinity) >= REMINDER_MS) {
        logger.warn(message);
        loggedAt.set(message, now());
      }
    },
    /** Logs that the server listens again, after an outage. */
    recovered(): void {
      if (downSince === undefined) return;
      const seconds = (now() - downSince) / 1000;
      logger.warn(`Listening again after ${seconds.toFixed(1)} s`);
      downSince = undefined;
      loggedAt.clear();
    },
  };
}
