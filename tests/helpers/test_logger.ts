// Collects what is logged.

import { BaseHandler } from "@std/log/base-handler";
import { Logger, type LogRecord } from "@std/log/logger";
import { NOTICE } from "../../src/log/logger.ts";

/** Passes each message on, with the name of its level, or NOTICE. */
class MessageHandler extends BaseHandler {
  constructor(private readonly write: (text: string, level: string) => void) {
    super("NOTSET", { formatter: ({ msg }) => msg });
  }

  override handle({ msg, levelName, args }: LogRecord): void {
    this.write(msg, args.includes(NOTICE) ? "NOTICE" : levelName);
  }

  override log(): void {}
}

/** Creates a logger that calls a function with each message and its level. */
export function createTestLogger(
  write: (text: string, level: string) => void,
): Logger {
  return new Logger("test", "DEBUG", { handlers: [new MessageHandler(write)] });
}
