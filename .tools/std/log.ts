// Stands in for `@std/log` where jsr.io cannot be reached. It is not a copy, but declares
// and does what the program uses of the modules base-handler and logger.

const LEVELS = { NOTSET: 0, DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40 };

/** The name of a level. */
export type LevelName = keyof typeof LEVELS;

/** A message and its level. */
export interface LogRecord {
  readonly msg: string;
  readonly levelName: string;
}

/** Formats and logs records of every level. */
export abstract class BaseHandler {
  constructor(
    _levelName: "NOTSET",
    readonly options: { formatter: (record: LogRecord) => string },
  ) {}

  handle(record: LogRecord): void {
    this.log(this.options.formatter(record));
  }

  abstract log(line: string): void;
}

/** Passes messages of its level or above to its handlers. */
export class Logger {
  constructor(
    _loggerName: string,
    readonly levelName: LevelName,
    readonly options: { handlers: BaseHandler[] },
  ) {}

  debug(message?: string): void {
    this.#log("DEBUG", String(message));
  }

  info(message: string): void {
    this.#log("INFO", message);
  }

  warn(message: string): void {
    this.#log("WARN", message);
  }

  error(message: string): void {
    this.#log("ERROR", message);
  }

  #log(levelName: LevelName, msg: string): void {
    if (LEVELS[this.levelName] > LEVELS[levelName]) return;
    for (const handler of this.options.handlers) {
      handler.handle({ msg, levelName });
    }
  }
}
