import type { Logger } from "@std/log/logger";

/** A sensor reading. */
export interface Reading {
  readonly json: string; // the text to serve
  readonly time?: number; // when it arrived, by the system clock, in ms since 1970
}

/** Returns the reading (the same object until it changes), or why there is none. */
export type Sensor = () => Reading | string;

const CLOCK_TOLERANCE_MS = 10; // more than it takes to read both clocks

/** The last reading of a sensor. Its age is only checked when a client asks. */
export class LastReading {
  #reading: Required<Reading> | undefined;
  #receivedAt = 0; // by the monotonic clock
  #isStale = false;
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input

  /** @param maxAgeSeconds How old the reading may be; undefined for no limit. */
  constructor(
    private readonly maxAgeSeconds: number | undefined,
    private readonly logger: Logger,
    private readonly monotonicTime = () => performance.now(),
    private readonly wallTime = Date.now,
  ) {}

  /** Replaces the reading. */
  set(json: string): void {
    this.#reading = { json, time: this.wallTime() };
    this.#receivedAt = this.monotonicTime();
  }

  /** Notes that the sensor has sent an invalid line. */
  addInvalid(): void {
    this.#hasInvalidLines = true;
  }

  /** Notes that no reading will follow, since the input has ended or failed. */
  end(how: "ended" | "failed"): void {
    this.#end = how;
  }

  /** Returns the reading, or why there is none. */
  readonly read: Sensor = () => {
    const reading = this.#reading;
    const end = this.#end ? `, and the input has ${this.#end}` : "";
    if (!reading) {
      const sent = this.#hasInvalidLines ? "only invalid lines" : "no reading";
      return `The sensor has sent ${sent}${end || " so far"}`;
    }
    const age = this.monotonicTime() - this.#receivedAt;
    const limit = this.maxAgeSeconds ?? Infinity;
    const wasStale = this.#isStale;
    this.#isStale = age > limit * 1000;
    if (this.#isStale) {
      const seconds = Math.ceil(age / 100) / 10;
      const problem =
        `The last reading is ${seconds} s old: the limit is ${limit} s${end}`;
      if (!wasStale) this.logger.warn(problem);
      return problem;
    }
    if (wasStale) this.logger.warn("Readings arrive again");
    const time = this.wallTime() - age; // differs if the clock was set meanwhile
    const isSame = Math.abs(time - reading.time) < CLOCK_TOLERANCE_MS;
    if (isSame) return reading;
    return this.#reading = { ...reading, time };
  };
}
