// Sensor readings, and the sensor that takes them from standard input.

import type { Logger } from "@std/log/logger";
import type { Config } from "./config.ts";
import { type Drop, type Input, readLines } from "./lines.ts";
import { limitWarnings } from "./warnings.ts";

/** A sensor reading. */
export interface Reading {
  readonly json: string; // the text to serve
  readonly time?: Date; // when it arrived
}

/** There is no reading at the moment; a sentence says why. */
export type Unavailable = { readonly unavailable: string };

/** Returns the current reading: the same object until the next one arrives. */
export type Sensor = () => Reading | Unavailable;

const EXCERPT_CHARACTERS = 80;
const SPACE = 0x20;
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Creates a sensor whose readings are the whole lines of an input. Whether they are
 * too old is noticed, and logged, when a client asks.
 */
export function createInputSensor(
  input: Input,
  { json, maxAgeSeconds }: Pick<Config, "json" | "maxAgeSeconds">,
  logger: Logger,
  monotonicTime = () => performance.now(),
  wallTime = Date.now,
): Sensor {
  const warn = limitWarnings(logger, monotonicTime);
  let missing = "The sensor has sent no reading yet";
  let reading: Reading | undefined;
  let receivedAt = 0;
  let isStale = false;

  const drop: Drop = (problem, line) => {
    missing = "The sensor has sent only invalid lines so far";
    warn(`Dropping lines ${problem}`, () => `, such as ${excerpt(line)}`);
  };

  async function follow(): Promise<void> {
    let ending = "has ended";
    try {
      for await (const line of readLines(input, drop, monotonicTime)) {
        if (line.every((byte) => byte <= SPACE)) continue; // blank
        if (json && !isJsonText(line)) {
          drop("that are not JSON", line);
          continue;
        }
        const text = UTF8.decode(line);
        const time = new Date(wallTime());
        reading = { json: json ? text : JSON.stringify(text), time };
        receivedAt = monotonicTime();
      }
    } catch (error) {
      ending = `has failed (${error})`;
    }
    logger.warn(`The input ${ending}: no new readings will arrive`);
  }

  follow();
  return () => {
    if (!reading) return { unavailable: missing };
    const age = monotonicTime() - receivedAt;
    const wasStale = isStale;
    isStale = age > maxAgeSeconds * 1000;
    if (!isStale) {
      if (wasStale) logger.warn("Readings arrive again");
      return reading;
    }
    const seconds = Math.ceil(age / 100) / 10;
    const unavailable =
      `The last reading is ${seconds} s old: the limit is ${maxAgeSeconds} s`;
    if (!wasStale) logger.warn(unavailable);
    return { unavailable };
  };
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

/**
 * Returns the start of a line as a JSON string of printable ASCII, which shows what a
 * terminal hides, such as a byte order mark or a no-break space.
 */
function excerpt(line: Uint8Array): string {
  const start = line.subarray(0, 4 * EXCERPT_CHARACTERS); // of up to 4 bytes
  const text = UTF8.decode(start).slice(0, EXCERPT_CHARACTERS);
  return JSON.stringify(text).replace(/[^ -~]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `\\u${hex.padStart(4, "0")}`;
  });
}
