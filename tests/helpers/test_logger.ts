// Collects what is logged.

import { BaseHandler } from "@std/log/base-handler";
import type { LogRecord } from "@std/log/logger";
import { levelOf, NoticeLogger } from "../../src/log/logger.ts";

/** Passes each message on, with the name of its level, or NOTICE. */
class MessageHandler extends BaseHandler {
  constructor(private readonly write: (text: string, level: string) => void) {
    super("NOTSET", { formatter: ({ msg }) => msg });
  }

  override handle(record: LogRecord): void {
    this.write(record.msg, levelOf(record));
  }

  override log(): void {}
}

/** Creates a logger that calls a function with each message and its level. */
export function createTestLogger(
  write: (text: string, level: string) => void,
): NoticeLogger {
  return new NoticeLogger("DEBUG", [new MessageHandler(write)]);
}
