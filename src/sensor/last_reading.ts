import type { NoticeLogger } from "../log/logger.ts";
import type { Measurement, Sensor } from "./reading.ts";

const CLOCK_TOLERANCE_MS = 10; // more than it takes to read both clocks

/** The last reading of a sensor. Its age is only checked when a client asks. */
export class LastReading {
  #reading: Measurement | undefined;
  #receivedAt = 0; // by the monotonic clock
  #isStale = false;
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input

  /** @param maxAgeSeconds How old the reading may be; Infinity for no limit. */
  constructor(
    private readonly maxAgeSeconds: number,
    private readonly logger: NoticeLogger,
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

  /** Returns the reading, or why there is none. Logs when it becomes stale or current. */
  readonly read: Sensor = () => {
    const reading = this.#reading;
    if (!reading) return { unavailable: this.#explainAbsence() };
    const ageMs = this.monotonicTime() - this.#receivedAt;
    const unavailable = this.#explainAge(ageMs);
    this.#logChange(unavailable);
    if (unavailable !== undefined) return { unavailable };
    // Kept, since responses are cached by this object
    this.#reading = this.#followClock(reading, ageMs);
    return this.#reading;
  };

  #explainAbsence(): string {
    const [sent, soFar] = this.#hasInvalidLines
      ? ["only invalid lines", " so far; the log shows one"]
      // The most common cause: in a pipe, most programs print some KB at once
      : ["no reading", " so far; in a pipe, it may hold its lines back"];
    return `The sensor has sent ${sent}${this.#explainEnd() || soFar}`;
  }

  /** Returns why a reading this old is stale, or undefined if it is not. */
  #explainAge(ageMs: number): string | undefined {
    const limit = this.maxAgeSeconds;
    if (ageMs <= limit * 1000) return undefined;
    const seconds = Math.ceil(ageMs / 100) / 10;
    const limits = `the limit is ${limit} s (--max-age)`;
    return `The last reading is ${seconds} s old: ${limits}${this.#explainEnd()}`;
  }

  #explainEnd(): string {
    return this.#end ? `, and the input has ${this.#end}` : "";
  }

  /** Logs when the reading becomes too old, and when it no longer is. */
  #logChange(problem: string | undefined): void {
    const isStale = problem !== undefined;
    if (isStale === this.#isStale) return;
    this.#isStale = isStale;
    if (isStale) this.logger.warn(problem);
    else this.logger.notice("Readings arrive again");
  }

  /** Corrects the time of a reading if the system clock has been set since. */
  #followClock(reading: Measurement, ageMs: number): Measurement {
    const time = this.wallTime() - ageMs;
    const isSame = Math.abs(time - reading.time) < CLOCK_TOLERANCE_MS;
    return isSame ? reading : { ...reading, time };
  }
}
