// What the sensor says: a fixed text, or the last line of standard input.

import type { Logger } from "@std/log/logger";
import { delay } from "./delay.ts";

/** What a sensor has said. */
export interface Reading {
  readonly text: string;
  /** When it came, in ms since the epoch, unless it is a fixed text. */
  readonly time?: number;
}

/**
 * Tells the last reading, the same object for as long as it is the last one, or
 * a sentence that says why there is none.
 */
export type Sensor = () => Reading | string;

/** What is read, as `Deno.stdin` is. */
type Input = Pick<typeof Deno.stdin, "read">;

/** The longest line that is a reading, in bytes, without its LF. */
export const MAX_LENGTH = 64 * 1024;

/** Between two reads, in ms: an input without end leaves time for requests. */
const PAUSE = 5;

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20] as const;

/**
 * Creates a sensor that says what comes in, a line a reading.
 *
 * @param maxAge How old a reading may be, in seconds.
 * @param logger Is told of lines that are too long, and of the input's end.
 * @param now A clock that nobody sets, in ms.
 * @param date The time of day, in ms since the epoch.
 */
export function createInputSensor(
  input: Input,
  maxAge: number,
  logger: Logger,
  now = () => performance.now(),
  date = Date.now,
): Sensor {
  let reading: Reading | undefined;
  let received = 0;

  async function follow(): Promise<void> {
    let reason = "";
    try {
      for await (const text of readLastLines(input, logger)) {
        reading = { text, time: date() };
        received = now();
      }
    } catch (error) {
      reason = ` after "${error}"`;
    }
    logger.warn(`The input has ended${reason}, no new reading will come`);
  }

  follow();
  return () => {
    if (reading === undefined) return "The sensor has sent nothing yet";
    const age = now() - received;
    if (age > maxAge * 1000) {
      const seconds = Math.ceil(age / 100) / 10;
      return `The last reading is ${seconds} s old, more than ${maxAge} s`;
    }
    return reading;
  };
}

/**
 * Reads lines, which end with LF or CRLF, and yields the last one of those that
 * came together: nobody could have asked for the others. Lines that are blank or
 * too long are left out.
 */
async function* readLastLines(
  input: Input,
  logger: Logger,
): AsyncGenerator<string> {
  const buffer = new Uint8Array(MAX_LENGTH + 1);
  let length = 0; // of the unfinished line at the buffer's start
  let isTooLong = false; // the unfinished line
  for (;;) {
    const count = await input.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
    const end = buffer.subarray(0, length).lastIndexOf(LF) + 1;
    if (end > 0) {
      const start = isTooLong ? buffer.indexOf(LF) + 1 : 0;
      const line = lastLine(buffer.subarray(start, end));
      if (line !== undefined) yield line;
      buffer.copyWithin(0, end, length);
      length -= end;
      isTooLong = false;
    }
    if (length === buffer.length && !isTooLong) {
      logger.warn(`Dropped a reading, longer than ${MAX_LENGTH} bytes`);
      isTooLong = true;
    }
    if (isTooLong) length = 0;
    await delay(PAUSE);
  }
  const line = lastLine(buffer.subarray(0, length));
  if (line !== undefined) yield line;
}

/** Returns the last line that is not blank, without its end. */
function lastLine(bytes: Uint8Array): string | undefined {
  let last = bytes.length - 1; // which is not blank
  while (last >= 0 && bytes[last]! <= SPACE) last--;
  if (last < 0) return undefined;
  const start = bytes.lastIndexOf(LF, last) + 1;
  let end = bytes.indexOf(LF, last);
  if (end < 0) end = bytes.length;
  if (bytes[end - 1] === CR) end--;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return decoder.decode(bytes.subarray(start, end));
}
