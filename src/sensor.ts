// Sensor readings, and the sensor that takes them from standard input.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";

/** A sensor reading. */
export interface Reading {
  readonly json: string; // the text to serve
  readonly time?: Date; // when it arrived
}

/** There is no reading at the moment; a sentence says why. */
export type Unavailable = { readonly unavailable: string };

/** Returns the current reading: the same object until the next one arrives. */
export type Sensor = () => Reading | Unavailable;

type Input = Pick<typeof Deno.stdin, "read">;
export const MAX_LINE_BYTES = 64 * 1024; // without the end of the line
const TOO_LONG = `longer than ${MAX_LINE_BYTES} bytes`;
const READ_PAUSE_MS = 5; // so that an endless input leaves time for requests
const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20] as const;
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Creates a sensor whose readings are the lines of an input. */
export function createInputSensor(
  input: Input,
  { json, maxAgeSeconds }: Pick<Config, "json" | "maxAgeSeconds">,
  logger: Logger,
  monotonicTime = () => performance.now(),
  wallTime = Date.now,
): Sensor {
  let reading: Reading | undefined;
  let receivedAt = 0;

  async function follow(): Promise<void> {
    let ending = "has ended";
    try {
      for await (const text of readReadings(input, json, logger)) {
        reading = { json: text, time: new Date(wallTime()) };
        receivedAt = monotonicTime();
      }
    } catch (error) {
      ending = `has failed (${error})`;
    }
    logger.warn(`The input ${ending}: no new readings will arrive`);
  }

  follow();
  return () => {
    if (!reading) return { unavailable: "The sensor has sent no reading yet" };
    const age = monotonicTime() - receivedAt;
    if (age <= maxAgeSeconds * 1000) return reading;
    const seconds = Math.ceil(age / 100) / 10;
    const unavailable =
      `The last reading is ${seconds} s old: the limit is ${maxAgeSeconds} s`;
    return { unavailable };
  };
}

/**
 * Yields the readings as JSON, but only the last one of each read: the others could
 * not be served anyway. Logs consecutive lines with the same problem once.
 */
async function* readReadings(input: Input, isJson: boolean, logger: Logger) {
  let lastProblem = ""; // of the previous line, if it was dropped
  const warnOnce = (problem: string) => {
    if (problem !== lastProblem) logger.warn(`Dropping lines ${problem}`);
    lastProblem = problem;
  };
  for await (const lines of readLines(input)) {
    let latest: Uint8Array | undefined;
    for (const line of splitLines(lines)) {
      if (line.length > MAX_LINE_BYTES) warnOnce(TOO_LONG);
      else if (line.every((byte) => byte <= SPACE)) continue; // blank
      else if (isJson && !isJsonText(line)) warnOnce("that are not JSON");
      else [latest, lastProblem] = [line, ""];
    }
    if (latest) {
      const text = UTF8.decode(latest);
      yield isJson ? text : JSON.stringify(text);
    }
  }
}

/** Yields the complete lines of each read, and only the start of an overlong one. */
async function* readLines(input: Input): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(MAX_LINE_BYTES + 2); // a line with its CRLF
  let length = 0; // of the incomplete line at the start of the buffer
  let isSkipping = false; // until the end of an overlong line
  while (true) {
    const count = await input.read(buffer.subarray(length));
    length += count ?? 0;
    const bytes = buffer.subarray(0, length);
    // The end of the input and the end of the buffer end a line, too
    const endsLine = count === null || length === buffer.length;
    const end = bytes.lastIndexOf(LF) + 1 || (endsLine ? length : 0);
    if (end > 0) {
      const start = isSkipping ? bytes.indexOf(LF) + 1 || end : 0;
      yield bytes.subarray(start, end);
      isSkipping = bytes[end - 1] !== LF;
      buffer.copyWithin(0, end, length);
      length -= end;
    }
    if (count === null) return;
    await delay(READ_PAUSE_MS);
  }
}

/** Yields the lines, without their LF or CRLF. */
function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const index = bytes.indexOf(LF, start);
    const end = index < 0 ? bytes.length : index;
    yield bytes.subarray(start, bytes[end - 1] === CR ? end - 1 : end);
    start = end + 1;
  }
}

/** Whether a line is a JSON text, which is UTF-8 (RFC 8259, section 8.1). */
function isJsonText(line: Uint8Array): boolean {
  try {
    JSON.parse(STRICT_UTF8.decode(line));
    return true;
  } catch {
    return false;
  }
}
