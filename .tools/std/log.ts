// Stands in for `@std/log` where jsr.io cannot be reached. It is not a copy, but an
// implementation of what the program uses of the modules base-handler and logger.

const LEVELS = { NOTSET: 0, DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40 };

/** The name of a level. */
export type LevelName = keyof typeof LEVELS;

/** A message, what follows it, and its level. */
export interface LogRecord {
  readonly msg: string;
  readonly args: unknown[];
  readonly loggerName: string;
  readonly level: number;
  readonly levelName: string;
}

/** Formats and logs records of its level or above. */
export abstract class BaseHandler {
  constructor(
    readonly levelName: LevelName,
    readonly options: { formatter: (record: LogRecord) => string },
  ) {}

  handle(record: LogRecord): void {
    if (LEVELS[this.levelName] > record.level) return;
    this.log(this.options.formatter(record));
  }

  abstract log(line: string): void;
}

/** Passes messages of its level or above to its handlers. */
export class Logger {
  constructor(
    readonly loggerName: string,
    readonly levelName: LevelName,
    readonly options: { handlers: BaseHandler[] },
  ) {}

  debug = (message?: string, ...args: unknown[]) =>
    this.#log("DEBUG", message, args);
  info = (message?: string, ...args: unknown[]) =>
    this.#log("INFO", message, args);
  warn = (message?: string, ...args: unknown[]) =>
    this.#log("WARN", message, args);
  error = (message?: string, ...args: unknown[]) =>
    this.#log("ERROR", message, args);

  #log(
    levelName: LevelName,
    message: string | undefined,
    args: unknown[],
  ): void {
    const level = LEVELS[levelName];
    if (LEVELS[this.levelName] > level) return;
    const { loggerName } = this;
    const record = { msg: String(message), args, loggerName, level, levelName };
    for (const handler of this.options.handlers) handler.handle(record);
  }
}
