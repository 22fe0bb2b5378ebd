// What is logged while the server cannot answer.

import type { Logger } from "@std/log/logger";
import { ListenError } from "./startup.ts";
import { limitWarnings } from "./warnings.ts";

/** Logs why the server does not listen, and when it listens again. */
export function trackOutages(logger: Logger, now: () => number) {
  let warn = limitWarnings(logger, now);
  let downSince: number | undefined;
  return {
    failed(error: unknown): void {
      if (error instanceof ListenError) {
        downSince ??= now();
        warn(error.message.split("\n", 1)[0]!);
      } else warn(`Closed all connections to recover from "${error}"`);
    },
    listening(): void {
      if (downSince === undefined) return;
      const seconds = (now() - downSince) / 1000;
      logger.warn(`Listening again after ${seconds.toFixed(1)} s`);
      downSince = undefined;
      warn = limitWarnings(logger, now); // a later outage is another problem
    },
  };
}
