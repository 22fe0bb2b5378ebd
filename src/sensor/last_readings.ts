import type { Logger } from "@std/log/logger";
import { type Config, DEFAULT_MAX_AGE_SECONDS } from "../config.ts";
import { delay } from "../delay.ts";
import { excerpt } from "../log/excerpt.ts";
import { limitWarnings, type Warn } from "../log/logger.ts";
import type { Measurement, Unavailable } from "./reading.ts";
import { SensorLines } from "./sensor_lines.ts";

const WATCH_MS = 1000; // how late it may be logged that a reading is too old
const TOO_MANY =
  "No longer serving the sensors that have been silent longest, since all lines together exceed 64 KiB";

/** The last reading, or with `--key` that of each sensor, until it is too old. */
export class LastReadings {
  readonly #lines: SensorLines;
  readonly #warn: Warn;
  readonly #maxAgeSeconds: number;
  readonly #start: number; // by the monotonic clock
  #lastArrival: number | undefined; // by the monotonic clock
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input
  #silentCount = 0; // how often a sensor was no longer served, until it is logged
  #silentName = ""; // one of these sensors
  #isProblemLogged = false;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly monotonicTime = () => performance.now(),
    private readonly wallTime = Date.now,
  ) {
    this.#lines = new SensorLines(config.keys !== undefined);
    this.#warn = limitWarnings(logger, monotonicTime);
    this.#maxAgeSeconds = config.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS;
    this.#start = monotonicTime();
  }

  /** Replaces the reading, or that of the sensor with a name. */
  set(json: string, name = ""): void {
    this.#lastArrival = this.monotonicTime();
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

  /**
   * Returns what is not too old, or why there is nothing. Logs that nothing has arrived for
   * too long, and when something arrives again.
   */
  read(): Measurement | Unavailable {
    const now = this.monotonicTime();
    const oldest = now - this.#maxAgeSeconds * 1000;
    const removed = this.#lines.removeBefore(oldest);
    if (this.config.keys) this.#logSilence(removed);
    const measurement = this.#lines.toMeasurement(this.wallTime() - now);
    if (measurement) {
      this.#logProblem(undefined);
      return measurement;
    }
    const unavailable = this.#explain(now);
    const silentSince = this.#lastArrival ?? this.#start;
    if (silentSince < oldest) this.#logProblem(unavailable);
    return { unavailable };
  }

  /** Reads once a second, so that it logs although no client asks. */
  async watch(stop: AbortSignal, wait: typeof delay = delay): Promise<void> {
    if (this.#maxAgeSeconds === Infinity) return;
    while (!stop.aborted) {
      await wait(WATCH_MS);
      this.read();
    }
  }

  /** Logs sensors that are no longer served: once a minute, all since the last time. */
  #logSilence(names: string[]): void {
    this.#silentCount += names.length;
    this.#silentName = names[0] ?? this.#silentName;
    if (this.#silentCount === 0) return;
    const isLogged = this.#warn(
      `No longer serving sensors that are silent for ${this.#maxAgeSeconds} s (--max-age)`,
      () =>
        `, such as ${excerpt(this.#silentName)} (count: ${this.#silentCount})`,
    );
    if (isLogged) this.#silentCount = 0;
  }

  /** Returns why there is no reading. */
  #explain(now: number): string {
    const end = this.#end ? `, and the input has ${this.#end}` : "";
    if (this.#lastArrival !== undefined) {
      const seconds = Math.ceil((now - this.#lastArrival) / 100) / 10;
      return `The last reading is ${seconds} s old: the limit is ${this.#maxAgeSeconds} s (--max-age)${end}`;
    }
    if (end) {
      const sent = this.#hasInvalidLines ? "only invalid lines" : "no reading";
      return `The sensor has sent ${sent}${end}`;
    }
    if (this.#hasInvalidLines) {
      return "The sensor has sent only invalid lines so far; the log shows one";
    }
    return this.config.journal
      ? "The sensor has sent no reading so far; its messages in the journal may say why"
      // Most programs print some KB at once, unless they print to a terminal
      : "The sensor has sent no reading so far; in a pipe, it may buffer its output";
  }

  /** Logs a problem when it begins, at most once a minute, and when it is over. */
  #logProblem(problem: string | undefined): void {
    const isProblem = problem !== undefined;
    if (isProblem === this.#isProblemLogged) return;
    if (isProblem) {
      const isLogged = this.#warn("No current reading", () => `: ${problem}`);
      this.#isProblemLogged = isLogged;
    } else {
      this.logger.warn("Readings arrive again");
      this.#isProblemLogged = false;
    }
  }
}
