import type { Clock } from "../clock.ts";
import { excerpt } from "../log/excerpt.ts";
import { limitWarnings, type Logger, type Warn } from "../log/logger.ts";
import type { LastReadings } from "./last_readings.ts";
import { ONLY_SENSOR, type Snapshot } from "./reading.ts";

const WATCH_MS = 1000; // how late a change may be logged
const EVICTED =
  "Forgetting the sensors that have been silent longest, since all lines together exceed 64 KiB";
const HANGING =
  ". If it logs no reason, its program may hang (restart datasensor), or its battery is empty";
const BACK = "Sensors send readings again";

/** Logs what changes between two looks at the sensors, whether or not a client asks. */
export class Watch {
  readonly #warn: Warn;
  readonly #start: number; // by the monotonic clock
  #before: Snapshot;
  #isProblemLogged = false;
  readonly #fellSilent = new Set<string>(); // names, until they are logged
  readonly #cameBack = new Set<string>();

  /** @param maxAgeSeconds How old a reading may be; Infinity for no limit. */
  constructor(
    private readonly readings: LastReadings,
    private readonly maxAgeSeconds: number,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {
    this.#warn = limitWarnings(logger, clock);
    this.#start = clock.now();
    this.#before = readings.snapshot();
  }

  /** Looks once a second until the signal to stop. */
  async run(stop: AbortSignal): Promise<void> {
    const silence =
      `No longer serving sensors that are silent for ${this.maxAgeSeconds} s (--max-age)`;
    while (!stop.aborted) {
      await this.clock.delay(WATCH_MS);
      const now = this.readings.snapshot();
      this.#compareNames(now);
      this.#logNames(this.#fellSilent, silence, HANGING);
      this.#logNames(this.#cameBack, BACK);
      if (now.all) this.#logEndOfProblem();
      else this.#logProblem();
      this.#before = now;
    }
  }

  #compareNames(now: Snapshot): void {
    const before = this.#before;
    if (now === before) return;
    const { count, name } = now.evicted;
    const hasEvicted = count > before.evicted.count;
    if (hasEvicted) this.#warn(EVICTED, () => `, such as ${excerpt(name)}`);
    // What reverts before it is logged is no news
    for (const name of before.current.keys()) {
      // A sensor that is evicted has not fallen silent
      if (now.current.has(name) || name === ONLY_SENSOR || hasEvicted) continue;
      if (!this.#cameBack.delete(name)) this.#fellSilent.add(name);
    }
    for (const name of now.current.keys()) {
      const isBack = !this.#fellSilent.delete(name) && before.silent.has(name);
      if (isBack) this.#cameBack.add(name);
    }
  }

  /** Logs names once a minute, all since the last time. */
  #logNames(names: Set<string>, problem: string, advice = ""): void {
    const [name] = names;
    if (name === undefined) return;
    const details = `, such as ${excerpt(name)} (count: ${names.size})`;
    if (this.#warn(problem, () => details + advice)) names.clear();
  }

  /** Logs a problem once, and another one a minute later at the earliest. */
  #logProblem(): void {
    // The first reading may take as long as any other one
    const isLate = this.clock.now() - this.#start > this.maxAgeSeconds * 1000;
    if (this.#isProblemLogged || !isLate) return;
    const details = () => `: ${this.readings.explain()}`;
    this.#isProblemLogged = this.#warn("No current reading", details);
  }

  #logEndOfProblem(): void {
    if (!this.#isProblemLogged) return;
    this.logger.warn("Readings arrive again"); // for whoever reads only warnings
    this.#isProblemLogged = false;
  }
}
