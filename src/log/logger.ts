import { BaseHandler, type LevelName } from "@std/log/base-handler";
import { Logger, type LogRecord } from "@std/log/logger";
import { LineWriter, type Sink } from "./line_writer.ts";

const REMINDER_MS = 60_000; // how often an unchanged problem is logged

type ByLevel = Record<string, string>;
const COLORS: ByLevel = { WARN: "\x1b[33m", ERROR: "\x1b[31m" };
const PRIORITIES: ByLevel = {
  DEBUG: "<7>",
  NOTICE: "<5>",
  WARN: "<4>",
  ERROR: "<3>",
};

/** The name of a notice's level, which @std/log lacks, and of the logger of notices. */
const NOTICE = "NOTICE";

/** A logger that also has notices, which say that a problem is over. */
export class NoticeLogger extends Logger {
  readonly #notices: Logger;

  constructor(levelName: LevelName, handlers: BaseHandler[]) {
    super("datasensor", levelName, { handlers });
    this.#notices = new Logger(NOTICE, levelName, { handlers });
  }

  /** Logs a notice. The journal shows it beside warnings with `-p notice`. */
  notice(message: string): void {
    this.#notices.info(message);
  }
}

/** Returns the name of the level of a record of a {@linkcode NoticeLogger}. */
export function levelOf({ loggerName, levelName }: LogRecord): string {
  return loggerName === NOTICE ? NOTICE : levelName;
}

/** How records are written: as plain text, with colors, or for systemd's journal. */
export type LogStyle = "plain" | "color" | "journal";

/** A logger that never blocks and never throws. */
export interface BufferedLogger {
  readonly logger: NoticeLogger;
  /** Resolves once all records are written. */
  flush(): Promise<void>;
}

/** Creates a logger that writes records of a level and above to a sink. */
export function createLogger(
  sink: Sink,
  level: LevelName,
  style: LogStyle,
): BufferedLogger {
  const writer = new LineWriter(sink, (count) => {
    logger.warn(`Log lines dropped because the output is too slow: ${count}`);
  });

  class LineHandler extends BaseHandler {
    override log(line: string): void {
      writer.write(line);
    }
  }
  const handler = new LineHandler("NOTSET", {
    formatter: (record) => formatMessage(levelOf(record), record.msg, style),
  });
  const logger = new NoticeLogger(level, [handler]);
  return { logger, flush: () => writer.flush() };
}

/** Logs a problem. Details follow it, but do not make it another problem. */
export type Warn = (problem: string, details?: () => string) => void;

/** Creates a function that logs a problem, but the same one only once a minute. */
export function limitWarnings(logger: Logger, now: () => number): Warn {
  const warnedAt = new Map<string, number>(); // by problem
  return (problem, details = () => "") => {
    const time = now();
    if (time - (warnedAt.get(problem) ?? -Infinity) < REMINDER_MS) return;
    warnedAt.set(problem, time);
    logger.warn(problem + details());
  };
}

/** Prefixes each line with its level's priority, for the journal (sd-daemon(3)). */
export function withPriority(level: string, text: string): string {
  const priority = PRIORITIES[level] ?? "";
  return priority + text.replaceAll("\n", `\n${priority}`);
}

/** Formats a message: its text, after the level's name if it tells of a problem. */
function formatMessage(
  level: string,
  message: string,
  style: LogStyle,
): string {
  if (level === "INFO") return message;
  const text = level === NOTICE ? message : `${level} ${message}`;
  if (style === "journal") return withPriority(level, text);
  const color = style === "color" ? COLORS[level] : undefined;
  return color ? `${color}${text}\x1b[0m` : text;
}
