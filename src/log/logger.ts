import { BaseHandler, type LevelName } from "@std/log/base-handler";
import { Logger } from "@std/log/logger";
import type { Clock } from "../clock.ts";
import { LineWriter, type Sink } from "./line_writer.ts";

/** What logs: other files take the type from here, so that only this one knows @std/log. */
export type { Logger };

const REMINDER_MS = 60_000; // how often an unchanged problem is logged

type ByLevel = Record<string, string>;
const COLORS: ByLevel = { WARN: "\x1b[33m", ERROR: "\x1b[31m" };
const PRIORITIES: ByLevel = { DEBUG: "<7>", WARN: "<4>", ERROR: "<3>" };

/** How records are written: as plain text, with colors, or for systemd's journal. */
export type LogStyle = "plain" | "color" | "journal";

/**
 * Creates a logger that writes messages of a level and above to a sink, and never blocks or
 * throws; and the writer of their lines, for lines that need no level.
 */
export function createLogger(
  sink: Sink,
  level: LevelName,
  style: LogStyle,
  clock: Clock,
): { logger: Logger; writer: LineWriter } {
  const writer = new LineWriter(sink, (count) => {
    const message =
      `Log lines dropped because the output is too slow: ${count}`;
    return formatMessage("WARN", message, style);
  }, clock);

  class LineHandler extends BaseHandler {
    override log(line: string): void {
      writer.write(line);
    }
  }
  const handler = new LineHandler("NOTSET", {
    formatter: ({ levelName, msg }) => formatMessage(levelName, msg, style),
  });
  const logger = new Logger("datasensor", level, { handlers: [handler] });
  return { logger, writer };
}

/**
 * Logs a problem, followed by details, and returns whether it did. Problems are compared
 * without their details.
 */
export type Warn = (problem: string, details?: () => string) => boolean;

/** Creates a function that logs a problem, but the same one only once a minute. */
export function limitWarnings(logger: Logger, { monotonicTime }: Clock): Warn {
  const warnedAt = new Map<string, number>(); // by problem, within the last minute
  return (problem, details = () => "") => {
    const time = monotonicTime();
    for (const [previous, at] of warnedAt) {
      if (time - at >= REMINDER_MS) warnedAt.delete(previous);
    }
    if (warnedAt.has(problem)) return false;
    warnedAt.set(problem, time);
    logger.warn(problem + details());
    return true;
  };
}

/** Prefixes each line with its level's priority, for the journal (sd-daemon(3)). */
export function withPriority(level: string, text: string): string {
  const priority = PRIORITIES[level] ?? "";
  return priority + text.replaceAll("\n", `\n${priority}`);
}

/** Formats a message: its text, after the level's name unless that is INFO. */
function formatMessage(
  level: string,
  message: string,
  style: LogStyle,
): string {
  if (level === "INFO") return message;
  const text = `${level} ${message}`;
  if (style === "journal") return withPriority(level, text);
  const color = style === "color" ? COLORS[level] : undefined;
  return color ? `${color}${text}\x1b[0m` : text;
}
