import type { Logger } from "@std/log/logger";
import { delay } from "../delay.ts";
import type { Measurement, Sensor } from "./reading.ts";

const CLOCK_TOLERANCE_MS = 10; // more than it takes to read both clocks
const WATCH_MS = 1000; // how late it may be logged that a reading is too old

/** The last reading of a sensor. */
export class LastReading {
  #reading: Measurement | undefined;
  #receivedAt: number; // or the start, by the monotonic clock
  #isStale = false;
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input

  /**
   * @param maxAgeSeconds How old the reading may be; Infinity for no limit.
   * @param silenceHint What may help if the sensor sends nothing.
   */
  constructor(
    private readonly maxAgeSeconds: number,
    private readonly silenceHint: string,
    private readonly logger: Logger,
    private readonly monotonicTime = () => performance.now(),
    private readonly wallTime = Date.now,
  ) {
    this.#receivedAt = monotonicTime();
  }

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

  /**
   * Returns the reading, or why there is none. Logs when it becomes too old, or none has
   * come for as long, and when readings come again.
   */
  readonly read: Sensor = () => {
    const reading = this.#reading;
    const ageMs = this.monotonicTime() - this.#receivedAt;
    const isTooOld = ageMs > this.maxAgeSeconds * 1000;
    if (reading && !isTooOld) {
      this.#logChange(undefined);
      // Kept, since responses are cached by this object
      return this.#reading = this.#followClock(reading, ageMs);
    }
    const unavailable = reading
      ? this.#explainAge(ageMs)
      : this.#explainAbsence();
    if (isTooOld) this.#logChange(unavailable);
    return { unavailable };
  };

  /** Reads once a second, so that each change is logged although no client asks. */
  async watch(stop: AbortSignal, wait: typeof delay = delay): Promise<void> {
    if (this.maxAgeSeconds === Infinity) return;
    while (!stop.aborted) {
      await wait(WATCH_MS);
      this.read();
    }
  }

  #explainAbsence(): string {
    const [sent, soFar] = this.#hasInvalidLines
      ? ["only invalid lines", " so far; the log shows one"]
      : ["no reading", ` so far; ${this.silenceHint}`];
    return `The sensor has sent ${sent}${this.#explainEnd() || soFar}`;
  }

  #explainAge(ageMs: number): string {
    const seconds = Math.ceil(ageMs / 100) / 10;
    const limits = `the limit is ${this.maxAgeSeconds} s (--max-age)`;
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
    else this.logger.warn("Readings arrive again");
  }

  /** Corrects the time of a reading if the system clock has been set since. */
  #followClock(reading: Measurement, ageMs: number): Measurement {
    const time = this.wallTime() - ageMs;
    const isSame = Math.abs(time - reading.time) < CLOCK_TOLERANCE_MS;
    return isSame ? reading : { ...reading, time };
  }
}
