// Where lines go: the logger, and the writer that never makes a request wait.

import { BaseHandler } from "@std/log/base-handler";
import type { LevelName, LogRecord } from "@std/log/base-handler";
import { Logger } from "@std/log/logger";
import { delay } from "./delay.ts";

/** How many characters of lines wait for a console that does not take them. */
export const CAPACITY = 1024 * 1024;

/** How long lines are collected before they are written together, in ms. */
const COLLECT_MS = 10;

/** How long a console that failed is left alone, in ms. */
const RETRY_MS = 500;

const COLORS: Record<string, string> = { WARN: "\x1b[33m", ERROR: "\x1b[31m" };

/** The console. */
export interface Console {
  /** Takes records. It never waits and never throws. */
  readonly logger: Logger;
  /** Resolves when every line so far is written. */
  flush(): Promise<void>;
}

/**
 * Creates the console: a logger, and behind it a buffer that is written without
 * anybody waiting for it. Lines that come while it is full are dropped, and
 * their number is told once there is room again.
 *
 * @param sink Takes bytes and returns how many it took, as `Deno.stdout.write`
 * does. When it fails, it is tried again.
 * @param levelName Records below this level are left out.
 * @param color Whether warnings and errors are coloured, for a terminal.
 */
export function createConsole(
  sink: (bytes: Uint8Array) => Promise<number>,
  levelName: LevelName,
  color: boolean,
): Console {
  const encoder = new TextEncoder();
  let waiting = "";
  let unwritten = new Uint8Array();
  let dropped = 0;
  let writing: Promise<void> | undefined;

  class BufferHandler extends BaseHandler {
    override log(line: string): void {
      if (waiting.length + unwritten.length + line.length >= CAPACITY) {
        dropped++;
        return;
      }
      waiting += `${line}\n`;
      writing ??= write();
    }
  }

  async function write(): Promise<void> {
    await delay(COLLECT_MS);
    while (waiting !== "") {
      unwritten = encoder.encode(waiting);
      waiting = "";
      while (unwritten.length > 0) {
        try {
          unwritten = unwritten.subarray(await sink(unwritten));
        } catch {
          await delay(RETRY_MS); // the disk is full, or the reader is gone
        }
      }
      if (dropped > 0) {
        const count = dropped;
        dropped = 0;
        logger.warn(`Dropped ${count} log lines, the console was too slow`);
      }
    }
    writing = undefined;
  }

  const formatter = (record: LogRecord) => formatRecord(record, color);
  const handler = new BufferHandler("NOTSET", { formatter });
  const logger = new Logger("datasensor", levelName, { handlers: [handler] });
  return { logger, flush: () => writing ?? Promise.resolve() };
}

/** Formats a record: its text, behind the level's name unless that is INFO. */
function formatRecord({ levelName, msg }: LogRecord, color: boolean): string {
  if (levelName === "INFO") return msg;
  const start = color ? COLORS[levelName] : undefined;
  return start ? `${start}${levelName} ${msg}\x1b[0m` : `${levelName} ${msg}`;
}
