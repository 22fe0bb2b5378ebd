import type { Clock } from "../clock.ts";
import type { SensorReading, Snapshot } from "./reading.ts";

const MAX_CHARACTERS = 64 * 1024; // of all lines and names, unless the latest is longer
const MIN_RUN_MS = 10_000; // of a sensor that is missed: a passing car is heard for less
const MIN_KNOWN_MS = 5 * 60_000; // of such a sensor, once it is silent
const KNOWN_PER_RUN = 24; // a day for each hour: one that dies on Friday is missed on Saturday
const MIN_CLOCK_CHANGE_MS = 10; // more than it takes to read both clocks

/** A sensor, and when it has sent readings, by the monotonic clock, in ms. */
interface Sensor {
  /** Its last reading, as JSON. */
  readonly json: string;
  /** When that arrived. */
  readonly arrival: number;
  /** When its run of readings began, without a break of more than the maximum age. */
  readonly runStart: number;
  /** How long it stays known once it is silent, by its earlier runs, in ms. */
  readonly knownMs: number;
}

/**
 * The last reading of each sensor, which is current until it is too old. A silent sensor stays
 * known for a day for each hour that it had been heard without a break, and for five minutes at
 * least. One that was heard for less than 10 s stays known for only as long again: after a
 * single reading, it is forgotten at once.
 */
export class LastReadings {
  // By name, the oldest reading first
  readonly #current = new Map<string, Sensor>();
  readonly #silent = new Map<string, Sensor>(); // apart: most requests ask for current ones
  #characters = 0;
  #forgetAt = Infinity; // when the next silent sensor is forgotten
  #lastArrival: number | undefined;
  #hasInvalidLines = false;
  #end: "ended" | "failed" | undefined; // of the input

  #clockOffset = 0; // the wall clock minus the monotonic clock
  #snapshot: Snapshot | undefined; // until something changes
  #silentReadings: Snapshot["silent"] | undefined; // until something of these changes
  #evicted: Snapshot["evicted"] = { count: 0, name: "" };

  /**
   * @param haveNames Whether sensors have names. If not, the name of the only one is empty.
   * @param maxAgeSeconds How old a reading may be; Infinity for no limit.
   * @param hint What may explain that a sensor sends nothing, as the end of a sentence.
   */
  constructor(
    private readonly haveNames: boolean,
    private readonly maxAgeSeconds: number,
    private readonly hint: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Replaces the reading of a sensor. Evicts the sensors with the oldest readings, first silent
   * ones, if all have too many characters.
   */
  set(json: string, name = ""): void {
    const arrival = this.#lastArrival = this.clock.monotonicTime();
    this.#expire(arrival);
    const previous = this.#current.get(name);
    const known = previous ?? this.#silent.get(name);
    // An only sensor is never forgotten
    const knownMs = known?.knownMs ?? (this.haveNames ? 0 : Infinity);
    const runStart = previous?.runStart ?? arrival;
    this.#add(this.#current, name, { json, arrival, runStart, knownMs });
    if (this.#characters > MAX_CHARACTERS) this.#evict();
  }

  /** Notes that the sensor has sent an invalid line. */
  addInvalid(): void {
    this.#hasInvalidLines = true;
  }

  /** Notes that no reading will follow, since the input has ended or failed. */
  end(how: "ended" | "failed"): void {
    this.#end = how;
  }

  /** Returns the known sensors: the same object until they change, or the clock is set. */
  snapshot(): Snapshot {
    const monotonicMs = this.clock.monotonicTime();
    this.#expire(monotonicMs);
    const offset = this.clock.wallTime() - monotonicMs;
    if (Math.abs(offset - this.#clockOffset) >= MIN_CLOCK_CHANGE_MS) {
      this.#clockOffset = offset;
      this.#snapshot = this.#silentReadings = undefined;
    }
    return this.#snapshot ??= this.#createSnapshot();
  }

  /** Returns why a silent sensor, or all, has no current reading, as a sentence for clients. */
  explain(name = ""): string {
    const end = this.#end ? `, and the input has ${this.#end}` : "";
    const arrival = this.#silent.get(name)?.arrival ?? this.#lastArrival;
    if (arrival !== undefined) {
      const seconds = Math.ceil((this.clock.monotonicTime() - arrival) / 100) /
        10;
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

  #expire(monotonicMs: number): void {
    const maxAgeMs = this.maxAgeSeconds * 1000;
    this.#silence(monotonicMs, maxAgeMs);
    if (monotonicMs >= this.#forgetAt) this.#forget(monotonicMs, maxAgeMs);
  }

  /** Makes sensors silent whose readings are too old. */
  #silence(monotonicMs: number, maxAgeMs: number): void {
    for (const [name, sensor] of this.#current) {
      const { arrival, runStart } = sensor;
      if (monotonicMs - arrival <= maxAgeMs) break; // those that follow came later
      this.#delete(name);
      const runMs = arrival - runStart;
      let knownMs = Math.max(sensor.knownMs, runMs);
      if (runMs >= MIN_RUN_MS) {
        knownMs = Math.max(knownMs, KNOWN_PER_RUN * runMs, MIN_KNOWN_MS);
      }
      const forgetAt = arrival + maxAgeMs + knownMs;
      // What would be forgotten at once is not added: a flood of names would take long
      if (monotonicMs > forgetAt) continue;
      this.#add(this.#silent, name, { ...sensor, knownMs });
      this.#forgetAt = Math.min(this.#forgetAt, forgetAt);
    }
  }

  /** Forgets sensors that have been silent for too long. */
  #forget(monotonicMs: number, maxAgeMs: number): void {
    this.#forgetAt = Infinity;
    for (const [name, { arrival, knownMs }] of this.#silent) {
      const forgetAt = arrival + maxAgeMs + knownMs;
      if (monotonicMs > forgetAt) this.#delete(name);
      else this.#forgetAt = Math.min(this.#forgetAt, forgetAt);
    }
  }

  #evict(): void {
    for (const sensors of [this.#silent, this.#current]) {
      for (const name of sensors.keys()) {
        const isLatest = sensors === this.#current && sensors.size === 1;
        if (this.#characters <= MAX_CHARACTERS || isLatest) return;
        this.#delete(name);
        this.#evicted = { count: this.#evicted.count + 1, name };
      }
    }
  }

  /** Adds a sensor as the last one, in place of its previous reading. */
  #add(sensors: Map<string, Sensor>, name: string, sensor: Sensor): void {
    this.#delete(name);
    sensors.set(name, sensor);
    this.#characters += name.length + sensor.json.length;
    this.#snapshot = undefined;
    if (sensors === this.#silent) this.#silentReadings = undefined;
  }

  #delete(name: string): void {
    const sensor = this.#current.get(name) ?? this.#silent.get(name);
    if (!sensor) return;
    this.#characters -= name.length + sensor.json.length;
    this.#current.delete(name);
    if (this.#silent.delete(name)) this.#silentReadings = undefined;
    this.#snapshot = undefined;
  }

  #createSnapshot(): Snapshot {
    const current = this.#list(this.#current);
    const silent = this.#silentReadings ??= this.#list(this.#silent);
    const { haveNames } = this;
    const [latest] = current.values();
    const all = haveNames ? join(current) : latest;
    return { haveNames, all, current, silent, evicted: this.#evicted };
  }

  /** Lists last readings by name, the latest first. */
  #list(sensors: Map<string, Sensor>): Map<string, SensorReading> {
    const readings = new Map<string, SensorReading>();
    for (const [name, { json, arrival }] of [...sensors].reverse()) {
      readings.set(name, { json, time: this.#toTime(arrival) });
    }
    return readings;
  }

  /** Converts a time of the monotonic clock to the wall clock. */
  #toTime(milliseconds: number): number {
    return Math.round(milliseconds + this.#clockOffset);
  }
}

/** Joins the readings of all sensors to an object, in the order of their names. */
function join(
  current: ReadonlyMap<string, SensorReading>,
): SensorReading | undefined {
  const [latest] = current.values();
  if (!latest) return undefined;
  const members = [...current.keys()].sort().map((name) =>
    `${JSON.stringify(name)}:${current.get(name)!.json}`
  );
  return { json: `{${members.join(",")}}`, time: latest.time };
}
