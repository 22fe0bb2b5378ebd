import type { Clock } from "../clock.ts";
import { excerpt } from "../log/excerpt.ts";
import { limitWarnings, type Logger, type Warn } from "../log/logger.ts";
import type { Sensor } from "./reading.ts";
import { SensorLines, THE_SENSOR } from "./sensor_lines.ts";

const WATCH_MS = 1000; // how late it may be logged that a reading is too old
const CLOCK_TOLERANCE_MS = 10; // more than it takes to read both clocks
const TOO_MANY =
  "No longer serving the sensors that have been silent longest, since all lines together exceed 64 KiB";

/** The last reading, or with `--key` that of each sensor, until it is too old. */
export class LastReadings {
  readonly #lines = new SensorLines();
  readonly #warn: Warn;
  readonly #start: number; // by the monotonic clock
  #lastArrival: number | undefined; // by the monotonic clock
  #clockOffset = 0; // the system clock minus the monotonic clock
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input
  #silentCount = 0; // how often a sensor was no longer served, until it is logged
  #silentName = ""; // one of these sensors
  #isProblemLogged = false;

  /**
   * @param maxAgeSeconds How old a reading may be; Infinity for no limit.
   * @param hint What may explain that a sensor sends nothing, as the end of a sentence.
   */
  constructor(
    private readonly maxAgeSeconds: number,
    private readonly hint: string,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {
    this.#warn = limitWarnings(logger, clock);
    this.#start = clock.now();
  }

  /** Replaces the reading, or that of the sensor with a name. */
  set(json: string, name = THE_SENSOR): void {
    this.#lastArrival = this.clock.now();
    const [removed] = this.#lines.set(name, json, this.#lastArrival);
    if (removed === undefined) return;
    this.#warn(TOO_MANY, () => `, such as ${excerpt(removed)}`);
  }

  /** Notes that the sensor has sent an invalid line. */
  addInvalid(): void {
    this.#hasInvalidLines = true;
  }

  /** Notes that no reading will follow, since the input has ended or failed. */
  end(how: "ended" | "failed"): void {
    this.#end = how;
  }

  /** Returns what is not too old, or why there is nothing. */
  read(): ReturnType<Sensor> {
    const now = this.clock.now();
    const oldest = now - this.maxAgeSeconds * 1000;
    const silent = this.#lines.removeBefore(oldest)
      .filter((name) => name !== THE_SENSOR); // of which #logProblem() tells
    this.#silentCount += silent.length;
    this.#silentName = silent[0] ?? this.#silentName;
    const measurement = this.#lines.toMeasurement(this.#measureOffset(now));
    return measurement ?? { unavailable: this.#explain(now) };
  }

  /** Logs once a second what has changed, whether or not a client asks. */
  async watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.clock.delay(WATCH_MS);
      const reading = this.read();
      this.#logSilence();
      if ("json" in reading) this.#logEndOfProblem();
      else this.#logProblem(reading.unavailable);
    }
  }

  /** Returns the clock offset: the same one until the system clock is set. */
  #measureOffset(now: number): number {
    const offset = this.clock.wallTime() - now;
    const step = Math.abs(offset - this.#clockOffset);
    if (step >= CLOCK_TOLERANCE_MS) this.#clockOffset = offset;
    return this.#clockOffset;
  }

  /** Returns why there is no reading. */
  #explain(now: number): string {
    const end = this.#end ? `, and the input has ${this.#end}` : "";
    if (this.#lastArrival !== undefined) {
      const seconds = Math.ceil((now - this.#lastArrival) / 100) / 10;
      return `The last reading is ${seconds} s old: the limit is ${this.maxAgeSeconds} s (--max-age)${end}`;
    }
    if (end) {
      const sent = this.#hasInvalidLines ? "only invalid lines" : "no reading";
      return `The sensor has sent ${sent}${end}`;
    }
    return this.#hasInvalidLines
      ? "The sensor has sent only invalid lines so far; the log shows one"
      : `The sensor has sent no reading so far; ${this.hint}`;
  }

  /** Logs sensors that are no longer served: once a minute, all since the last time. */
  #logSilence(): void {
    if (this.#silentCount === 0) return;
    const isLogged = this.#warn(
      `No longer serving sensors that are silent for ${this.maxAgeSeconds} s (--max-age)`,
      () =>
        `, such as ${excerpt(this.#silentName)} (count: ${this.#silentCount})`,
    );
    if (isLogged) this.#silentCount = 0;
  }

  /** Logs a problem once, and another one a minute later at the earliest. */
  #logProblem(problem: string): void {
    // At the start, the first reading may take as long as any other one
    const silentSince = this.#lastArrival ?? this.#start;
    const silentMs = this.clock.now() - silentSince;
    const isLate = silentMs > this.maxAgeSeconds * 1000;
    if (!isLate || this.#isProblemLogged) return;
    const isLogged = this.#warn("No current reading", () => `: ${problem}`);
    this.#isProblemLogged = isLogged;
  }

  #logEndOfProblem(): void {
    if (!this.#isProblemLogged) return;
    this.logger.warn("Readings arrive again"); // for whoever reads only warnings
    this.#isProblemLogged = false;
  }
}
