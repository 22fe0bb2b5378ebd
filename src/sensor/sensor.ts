import type { Logger } from "@std/log/logger";
import type { Config } from "../config.ts";
import { type Input, readLines } from "./line_reader.ts";
import { limitWarnings } from "../log/logger.ts";

/** A sensor reading. */
export interface Reading {
  readonly json: string; // the text to serve
  readonly time?: Date; // when it arrived
}

/** Returns the reading (the same object until the next one), or why there is none. */
export type Sensor = () => Reading | string;

const EXCERPT_CHARACTERS = 80;
const SPACE = 0x20;
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * A sensor whose readings are the whole lines of an input. Whether they are too old is
 * noticed, and logged, when a client asks.
 */
export class InputSensor {
  readonly #warn: ReturnType<typeof limitWarnings>;
  #sent = "no reading";
  #ending = ""; // why no reading will follow
  #reading: Reading | undefined;
  #receivedAt = 0;
  #isStale = false;

  constructor(
    input: Input,
    private readonly config: Pick<Config, "json" | "maxAgeSeconds">,
    private readonly logger: Logger,
    private readonly monotonicTime = () => performance.now(),
    private readonly wallTime = Date.now,
  ) {
    this.#warn = limitWarnings(logger, monotonicTime);
    this.#follow(input);
  }

  /** Returns the current reading, or why there is none. */
  readonly read: Sensor = () => {
    if (!this.#reading) {
      return `The sensor has sent ${this.#sent}${this.#ending || " so far"}`;
    }
    const age = this.monotonicTime() - this.#receivedAt;
    const limit = this.config.maxAgeSeconds;
    const wasStale = this.#isStale;
    this.#isStale = age > limit * 1000;
    if (!this.#isStale) {
      if (wasStale) this.logger.warn("Readings arrive again");
      return this.#reading;
    }
    const seconds = Math.ceil(age / 100) / 10;
    const problem =
      `The last reading is ${seconds} s old: the limit is ${limit} s${this.#ending}`;
    if (!wasStale) this.logger.warn(problem);
    return problem;
  };

  async #follow(input: Input): Promise<void> {
    const lines = readLines(input, this.#drop.bind(this), this.monotonicTime);
    let how = "has ended";
    let reason = "";
    try {
      for await (const line of lines) this.#receive(line);
    } catch (error) {
      how = "has failed";
      reason = ` (${error})`; // only for the log
    }
    this.#ending = `, and the input ${how}`;
    this.logger.warn(`The input ${how}${reason}: no new readings will arrive`);
  }

  #receive(line: Uint8Array): void {
    if (line.every((byte) => byte <= SPACE)) return; // nothing visible
    try {
      const json = this.config.json
        ? decodeJson(line)
        : JSON.stringify(UTF8.decode(line));
      this.#reading = { json, time: new Date(this.wallTime()) };
      this.#receivedAt = this.monotonicTime();
    } catch {
      this.#drop("that are not JSON", line);
    }
  }

  #drop(problem: string, line: Uint8Array): void {
    this.#sent = "only invalid lines";
    this.#warn(`Dropping lines ${problem}`, () => `, such as ${excerpt(line)}`);
  }
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
