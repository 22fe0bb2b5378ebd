import type { Clock } from "../clock.ts";
import { excerpt } from "./excerpt.ts";
import { limitWarnings, type Logger, type Warn } from "../log/logger.ts";
import type { LastReadings } from "./last_readings.ts";
import type { Snapshot } from "./reading.ts";

const EVICTED =
  "Forgetting the sensors that have been silent longest, since all lines together exceed 64 KiB";
const HANGING =
  ". If it logs no reason, its program may hang (restart datasensor), or its battery is empty";
const BACK = "Sensors send readings again";
const RARE_ADVICE =
  ". Unless they are visitors, such as passing cars, set --max-age to two or three times their interval";
const MAX_TRANSIENTS = 100; // whose return is noticed

/** Logs which sensors fall silent, come back or are evicted, whether or not a client asks. */
export class SensorLog {
  readonly #warn: Warn;
  readonly #start: number; // by the monotonic clock
  #before: Snapshot;
  #isProblemLogged = false;
  readonly #fellSilent = new Set<string>(); // names, until they are logged
  readonly #cameBack = new Set<string>();
  readonly #transients = new Set<string>(); // names that are forgotten as soon as not current
  #isRareLogged = false;

  /** @param maxAgeSeconds How old a reading may be; Infinity for no limit. */
  constructor(
    private readonly readings: LastReadings,
    private readonly maxAgeSeconds: number,
    private readonly logger: Logger,
    private readonly clock: Clock,
  ) {
    this.#warn = limitWarnings(logger, clock);
    this.#start = clock.monotonicTime();
    this.#before = readings.snapshot();
  }

  /** Logs what has changed since the last call. To be called once a second. */
  compare(snapshot: Snapshot): void {
    const silence =
      `No longer serving sensors that are silent for ${this.maxAgeSeconds} s (--max-age)`;
    this.#compareNames(snapshot);
    this.#logNames(this.#fellSilent, silence, HANGING);
    this.#logNames(this.#cameBack, BACK);
    if (snapshot.all) this.#logEndOfProblem();
    else this.#logProblem();
    this.#before = snapshot;
  }

  #compareNames(snapshot: Snapshot): void {
    const before = this.#before;
    const { haveNames, current, silent } = snapshot;
    if (snapshot === before || !haveNames) return;
    const { count, name } = snapshot.evicted;
    const hasEvicted = count > before.evicted.count;
    if (hasEvicted) this.#warn(EVICTED, () => `, such as ${excerpt(name)}`);
    // A sensor that is back before its silence is logged is not logged, and vice versa
    for (const name of silent.keys()) {
      if (before.silent.has(name)) continue;
      if (!this.#cameBack.delete(name)) this.#fellSilent.add(name);
    }
    for (const name of current.keys()) {
      const isBack = !this.#fellSilent.delete(name) && before.silent.has(name);
      if (isBack) this.#cameBack.add(name);
      if (this.#transients.has(name)) this.#logRare(name);
    }
    for (const name of before.current.keys()) {
      const isKnown = current.has(name) || silent.has(name);
      if (isKnown || hasEvicted) continue;
      if (this.#transients.size === MAX_TRANSIENTS) this.#transients.clear();
      this.#transients.add(name);
    }
  }

  /** Logs a name, and how many there are since the last time, once a minute. */
  #logNames(names: Set<string>, problem: string, advice = ""): void {
    const [name] = names;
    if (name === undefined) return;
    const details = `, such as ${excerpt(name)} (count: ${names.size})`;
    if (this.#warn(problem, () => details + advice)) names.clear();
  }

  /** Logs, once, that a sensor sends so rarely that it is served only some of the time. */
  #logRare(name: string): void {
    if (this.#isRareLogged) return;
    this.#isRareLogged = true;
    const problem =
      `Sensors send more rarely than every ${this.maxAgeSeconds} s (--max-age)`;
    this.logger.warn(`${problem}, such as ${excerpt(name)}${RARE_ADVICE}`);
  }

  /** Logs a problem once, and another one a minute later at the earliest. */
  #logProblem(): void {
    // The first reading may take as long as any other one
    const isLate =
      this.clock.monotonicTime() - this.#start > this.maxAgeSeconds * 1000;
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
