// Collects what is logged.

import { BaseHandler } from "@std/log/base-handler";
import { Logger, type LogRecord } from "@std/log/logger";

/** Passes each message on, with the name of its level. */
class MessageHandler extends BaseHandler {
  constructor(private readonly write: (text: string, level: string) => void) {
    super("NOTSET", { formatter: ({ msg }) => msg });
  }

  override handle(record: LogRecord): void {
    this.write(record.msg, record.levelName);
  }

  override log(): void {}
}

/** Creates a logger that calls a function with each message and its level. */
export function createTestLogger(
  write: (text: string, level: string) => void,
): Logger {
  const handlers = [new MessageHandler(write)];
  return new Logger("datasensor", "DEBUG", { handlers });
}
