// The sensor: a fixed text, or the last line of standard input.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";

/** A sensor reading. */
export interface Reading {
  /** The JSON text to serve. */
  readonly json: string;
  /** When it arrived, in ms since the epoch; a fixed text has no time. */
  readonly time?: number;
}

/** There is no reading at the moment; the sentence says why. */
export interface Unavailable {
  readonly unavailable: string;
}

/** Returns the current reading: the same object until the next one arrives. */
export type Sensor = () => Reading | Unavailable;

/** What is read, such as `Deno.stdin`. */
type Input = Pick<typeof Deno.stdin, "read">;

/** The length of the longest reading, in bytes, without its line end. */
export const MAX_LENGTH = 64 * 1024;

/** The pause between two reads: an endless input leaves time for requests. */
const READ_PAUSE_MS = 5;

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20] as const;

/**
 * Creates a sensor whose readings are the lines of an input.
 *
 * @param config Whether lines are JSON texts, and how old a reading may be.
 * @param logger Is warned of invalid lines and of the end of the input.
 * @param now A monotonic clock, in ms.
 * @param date The time of day, in ms since the epoch.
 */
export function createInputSensor(
  input: Input,
  { json, maxAge }: Pick<Config, "json" | "maxAge">,
  logger: Logger,
  now = () => performance.now(),
  date = Date.now,
): Sensor {
  let reading: Reading | undefined;
  let receivedAt = 0;

  async function follow(): Promise<void> {
    let reason = "";
    try {
      for await (const text of readReadings(input, json, logger)) {
        reading = { json: text, time: date() };
        receivedAt = now();
      }
    } catch (error) {
      reason = ` after "${error}"`;
    }
    logger.warn(`The input has ended${reason}: no new readings will arrive`);
  }

  follow();
  return () => {
    if (!reading) return { unavailable: "The sensor has sent no reading yet" };
    const age = now() - receivedAt;
    if (age <= maxAge * 1000) return reading;
    const seconds = Math.ceil(age / 100) / 10;
    const unavailable =
      `The last reading is ${seconds} s old: the limit is ${maxAge} s`;
    return { unavailable };
  };
}

/**
 * Reads lines, which end with LF or CRLF, and yields as JSON the last one of
 * those that arrive together: nobody could have requested the others. Skips
 * blank lines, and warns once of consecutive lines that are invalid.
 */
async function* readReadings(
  input: Input,
  isJson: boolean,
  logger: Logger,
): AsyncGenerator<string> {
  const buffer = new Uint8Array(MAX_LENGTH + 1);
  let length = 0; // of the incomplete line at the start of the buffer
  let isTooLong = false; // that line
  let problem = ""; // of the line before
  const drop = (reason: string) => {
    if (reason !== problem) logger.warn(`Dropped a reading ${reason}`);
    problem = reason;
  };
  const parseLast = (lines: Uint8Array): string | undefined => {
    let last: Uint8Array | undefined;
    for (const line of splitLines(lines)) {
      if (isJson && !isJsonText(line)) {
        drop("that is not JSON");
        continue;
      }
      last = line;
      problem = "";
    }
    if (!last) return undefined;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(last);
    return isJson ? text : JSON.stringify(text);
  };

  for (;;) {
    const count = await input.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
    const end = buffer.lastIndexOf(LF, length - 1) + 1;
    if (end > 0) {
      const start = isTooLong ? buffer.indexOf(LF) + 1 : 0;
      const reading = parseLast(buffer.subarray(start, end));
      if (reading !== undefined) yield reading;
      buffer.copyWithin(0, end, length);
      length -= end;
      isTooLong = false;
    }
    if (length === buffer.length) {
      drop(`longer than ${MAX_LENGTH} bytes`);
      isTooLong = true;
    }
    if (isTooLong) length = 0;
    await delay(READ_PAUSE_MS);
  }
  const reading = parseLast(buffer.subarray(0, length));
  if (reading !== undefined) yield reading;
}

/** Yields the lines that are not blank, without their ends. */
function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const index = bytes.indexOf(LF, start);
    const end = index < 0 ? bytes.length : index;
    const line = bytes.subarray(start, bytes[end - 1] === CR ? end - 1 : end);
    if (line.some((byte) => byte > SPACE)) yield line;
    start = end + 1;
  }
}

/** Whether a line is a JSON text, which is UTF-8 (RFC 8259, section 8.1). */
function isJsonText(line: Uint8Array): boolean {
  const options = { fatal: true, ignoreBOM: true };
  try {
    JSON.parse(new TextDecoder("utf-8", options).decode(line));
    return true;
  } catch {
    return false;
  }
}
