// Where lines go: the logger, and the text that it makes of a record.

import { BaseHandler } from "@std/log/base-handler";
import type { LevelName, LogRecord } from "@std/log/base-handler";
import { Logger } from "@std/log/logger";
import { LineWriter, type Sink } from "./line_writer.ts";

const COLORS: Record<string, string> = { WARN: "\x1b[33m", ERROR: "\x1b[31m" };

/**
 * Creates the console: a logger whose records become lines, which never waits
 * and never throws, and a function that resolves when all of them are written.
 *
 * @param level Records below it are left out.
 * @param color Whether warnings and errors are coloured, for a terminal.
 */
export function createConsole(sink: Sink, level: LevelName, color: boolean) {
  const writer = new LineWriter(sink, (count) => {
    logger.warn(`Dropped ${count} log lines, they came faster than they went`);
  });

  class LineHandler extends BaseHandler {
    override log(line: string): void {
      writer.write(line);
    }
  }

  const formatter = (record: LogRecord) => formatRecord(record, color);
  const handler = new LineHandler("NOTSET", { formatter });
  const logger = new Logger("datasensor", level, { handlers: [handler] });
  return { logger, flush: () => writer.flush() };
}

/** Formats a record: its text, behind the level's name unless that is INFO. */
function formatRecord({ levelName, msg }: LogRecord, color: boolean): string {
  if (levelName === "INFO") return msg;
  const start = color ? COLORS[levelName] : undefined;
  return start ? `${start}${levelName} ${msg}\x1b[0m` : `${levelName} ${msg}`;
}
