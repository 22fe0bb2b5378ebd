// Sensor readings, and the sensor that takes them from standard input.

import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import { type Input, readLines } from "./line_reader.ts";
import { limitWarnings } from "../log/logger.ts";

/** A sensor reading. */
export interface Reading {
  readonly json: string; // the text to serve
  readonly time?: Date; // when it arrived
}

/** Returns the current reading (the same object until the next), or why there is none. */
export type Sensor = () => Reading | string;

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
  let sent = "no reading";
  let ending = ""; // why nothing will follow
  let reading: Reading | undefined;
  let receivedAt = 0;
  let isStale = false;

  const drop = (problem: string, line: Uint8Array) => {
    sent = "only invalid lines";
    warn(`Dropping lines ${problem}`, () => `, such as ${excerpt(line)}`);
  };

  async function follow(): Promise<void> {
    try {
      for await (const line of readLines(input, drop, monotonicTime)) {
        if (line.every((byte) => byte <= SPACE)) continue; // nothing visible
        try {
          const text = json
            ? decodeJson(line)
            : JSON.stringify(UTF8.decode(line));
          reading = { json: text, time: new Date(wallTime()) };
          receivedAt = monotonicTime();
        } catch {
          drop("that are not JSON", line);
        }
      }
      end("has ended");
    } catch (error) {
      end("has failed", ` (${error})`);
    }
  }

  function end(how: string, reason = "") {
    ending = `, and the input ${how}`;
    logger.warn(`The input ${how}${reason}: no new readings will arrive`);
  }

  follow();
  return () => {
    if (!reading) return `The sensor has sent ${sent}${ending || " so far"}`;
    const age = monotonicTime() - receivedAt;
    const wasStale = isStale;
    isStale = age > maxAgeSeconds * 1000;
    if (!isStale) {
      if (wasStale) logger.warn("Readings arrive again");
      return reading;
    }
    const seconds = Math.ceil(age / 100) / 10;
    const problem =
      `The last reading is ${seconds} s old: the limit is ${maxAgeSeconds} s${ending}`;
    if (!wasStale) logger.warn(problem);
    return problem;
  };
}

/** Decodes a JSON text, which is UTF-8 (RFC 8259, section 8.1). Throws if invalid. */
function decodeJson(line: Uint8Array): string {
  const text = STRICT_UTF8.decode(line);
  JSON.parse(text);
  return text;
}

/** Quotes the start of a line, and escapes what a terminal hides, such as a BOM. */
function excerpt(line: Uint8Array): string {
  const text = UTF8.decode(line).slice(0, EXCERPT_CHARACTERS);
  return JSON.stringify(text).replace(/[^ -~]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `\\u${hex.padStart(4, "0")}`;
  });
}
