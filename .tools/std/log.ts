/**
 * Stands in for the modules base-handler, levels and logger of `@std/log`
 * where jsr.io cannot be reached: the same names and behaviour.
 *
 * @module
 */

/** The levels, by name. */
export const LogLevels = {
  NOTSET: 0,
  DEBUG: 10,
  INFO: 20,
  WARN: 30,
  ERROR: 40,
  CRITICAL: 50,
} as const;

/** The name of a level. */
export type LevelName = keyof typeof LogLevels;

/** The number of a level. */
export type LogLevel = typeof LogLevels[LevelName];

/** Makes a record's text. */
export type FormatterFunction = (record: LogRecord) => string;

/** The options of {@linkcode BaseHandler}. */
export interface BaseHandlerOptions {
  /** Makes the text; by default the level's name and the message. */
  formatter?: FormatterFunction;
}

const NAMES = new Map(
  Object.entries(LogLevels).map(([name, level]) => [level, name as LevelName]),
);

/** Returns the number of a level. */
export function getLevelByName(name: LevelName): LogLevel {
  const level = LogLevels[name];
  if (level === undefined) throw new Error(`No level has the name "${name}"`);
  return level;
}

/** Returns the name of a level. */
export function getLevelName(level: LogLevel): LevelName {
  const name = NAMES.get(level);
  if (name === undefined) throw new Error(`No level has the number ${level}`);
  return name;
}

/** One message and its circumstances. */
export class LogRecord {
  readonly msg: string;
  readonly level: number;
  readonly levelName: string;
  readonly loggerName: string;
  #args: unknown[];
  #datetime = new Date();

  constructor(
    options: {
      msg: string;
      args: unknown[];
      level: LogLevel;
      loggerName: string;
    },
  ) {
    this.msg = options.msg;
    this.level = options.level;
    this.levelName = getLevelName(options.level);
    this.loggerName = options.loggerName;
    this.#args = [...options.args];
  }

  get args(): unknown[] {
    return [...this.#args];
  }

  get datetime(): Date {
    return new Date(this.#datetime);
  }
}

/** Takes the records of a logger from a level on. */
export abstract class BaseHandler {
  formatter: FormatterFunction;
  #level: LogLevel;

  constructor(levelName: LevelName, options: BaseHandlerOptions = {}) {
    this.#level = getLevelByName(levelName);
    this.formatter = options.formatter ??
      (({ levelName, msg }) => `${levelName} ${msg}`);
  }

  get level(): LogLevel {
    return this.#level;
  }
  set level(level: LogLevel) {
    this.#level = getLevelByName(getLevelName(level));
  }

  get levelName(): LevelName {
    return getLevelName(this.#level);
  }
  set levelName(levelName: LevelName) {
    this.#level = getLevelByName(levelName);
  }

  handle(record: LogRecord): void {
    if (this.level > record.level) return;
    this.log(this.format(record));
  }

  format(record: LogRecord): string {
    return this.formatter(record);
  }

  abstract log(line: string): void;

  setup(): void {}

  destroy(): void {}

  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** Hands messages from a level on to its handlers. */
export class Logger {
  handlers: BaseHandler[];
  #level: LogLevel;
  #loggerName: string;

  constructor(
    loggerName: string,
    levelName: LevelName,
    options: { handlers?: BaseHandler[] } = {},
  ) {
    this.#loggerName = loggerName;
    this.#level = getLevelByName(levelName);
    this.handlers = options.handlers ?? [];
  }

  get level(): LogLevel {
    return this.#level;
  }
  set level(level: LogLevel) {
    this.#level = getLevelByName(getLevelName(level));
  }

  get levelName(): LevelName {
    return getLevelName(this.#level);
  }
  set levelName(levelName: LevelName) {
    this.#level = getLevelByName(levelName);
  }

  get loggerName(): string {
    return this.#loggerName;
  }

  debug<T>(msg: T | (() => T), ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.DEBUG, msg, args);
  }

  info<T>(msg: T | (() => T), ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.INFO, msg, args);
  }

  warn<T>(msg: T | (() => T), ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.WARN, msg, args);
  }

  error<T>(msg: T | (() => T), ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.ERROR, msg, args);
  }

  critical<T>(msg: T | (() => T), ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.CRITICAL, msg, args);
  }

  #log<T>(
    level: LogLevel,
    msg: T | (() => T),
    args: unknown[],
  ): T | undefined {
    const enabled = this.level <= level;
    if (msg instanceof Function && !enabled) return undefined;
    const value = msg instanceof Function ? msg() : msg;
    if (enabled) {
      const { loggerName } = this;
      const options = { msg: toText(value), args, level, loggerName };
      const record = new LogRecord(options);
      this.handlers.forEach((handler) => handler.handle(record));
    }
    return value;
  }
}

/** Makes text of a message that need not be one. */
function toText(value: unknown): string {
  if (value instanceof Error) return value.stack ?? String(value);
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return String(value);
}
