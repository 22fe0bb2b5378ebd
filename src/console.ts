// Where lines go: the logger, and the writer that never makes a request wait.

import { BaseHandler } from "@std/log/base-handler";
import type { LevelName, LogRecord } from "@std/log/base-handler";
import { Logger } from "@std/log/logger";
import { delay } from "./delay.ts";

/** How many bytes of lines wait for a console that does not take them. */
export const CAPACITY = 1024 * 1024;

const COLLECT_MS = 100; // before a few lines are written together
const WRITE_LENGTH = 64 * 1024; // so many bytes of lines are written at once
const RETRY_MS = 500; // before a sink that failed is tried again

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
  let filling = new Uint8Array(CAPACITY);
  let emptying = new Uint8Array(CAPACITY); // what the sink is taking
  let length = 0; // of what is in `filling`
  let dropped = 0;
  let collecting: Promise<void> | undefined;
  let writing: Promise<void> | undefined;

  class BufferHandler extends BaseHandler {
    override log(line: string): void {
      const room = filling.subarray(length);
      const { read, written } = encoder.encodeInto(`${line}\n`, room);
      if (read > line.length) length += written;
      else dropped++; // there was no room for the whole line
      if (length > WRITE_LENGTH) writing ??= write();
      collecting ??= delay(COLLECT_MS).then(startWrite);
    }
  }

  // Waits for nothing: while the sink is stuck, who waited would pile up
  function startWrite(): void {
    collecting = undefined;
    if (length > 0) writing ??= write();
  }

  async function flush(): Promise<void> {
    startWrite();
    await writing;
  }

  async function write(): Promise<void> {
    do {
      let bytes = filling.subarray(0, length);
      [filling, emptying] = [emptying, filling];
      length = 0;
      if (dropped > 0) {
        logger.warn(`Dropped ${dropped} log lines, the console was too slow`);
        dropped = 0;
      }
      while (bytes.length > 0) {
        try {
          bytes = bytes.subarray(await sink(bytes));
        } catch {
          await delay(RETRY_MS); // the disk is full, or the reader is gone
        }
      }
    } while (length > 0);
    writing = undefined;
  }

  const formatter = (record: LogRecord) => formatRecord(record, color);
  const handler = new BufferHandler("NOTSET", { formatter });
  const logger = new Logger("datasensor", levelName, { handlers: [handler] });
  return { logger, flush };
}

/** Formats a record: its text, behind the level's name unless that is INFO. */
function formatRecord({ levelName, msg }: LogRecord, color: boolean): string {
  if (levelName === "INFO") return msg;
  const start = color ? COLORS[levelName] : undefined;
  return start ? `${start}${levelName} ${msg}\x1b[0m` : `${levelName} ${msg}`;
}
