import type { Measurement } from "./reading.ts";

const MAX_CHARACTERS = 64 * 1024; // of all lines and names, unless the latest is longer

/** The name of the only sensor. With `--key`, no name is empty. */
export const THE_SENSOR = "";

/** The last line of each sensor. Those that have been silent longest are the first. */
export class SensorLines {
  readonly #lines = new Map<string, { json: string; arrival: number }>(); // by name
  #characters = 0;
  #measurement: Measurement | undefined; // all lines, joined, until they change
  #clockOffset: number | undefined; // with which they were joined

  /**
   * Replaces the line of a sensor. Removes the first lines if all have too many characters,
   * and returns their names.
   *
   * @param arrival The monotonic clock, in ms.
   */
  set(name: string, json: string, arrival: number): string[] {
    this.#delete(name); // so that it becomes the last one
    this.#lines.set(name, { json, arrival });
    this.#characters += name.length + json.length;
    return this.#removeWhile(() =>
      this.#characters > MAX_CHARACTERS && this.#lines.size > 1
    );
  }

  /** Removes the lines that arrived before a time, and returns their names. */
  removeBefore(time: number): string[] {
    return this.#removeWhile(({ arrival }) => arrival < time);
  }

  /**
   * Returns what to serve, if there is a line: the same object until a line or the clock
   * offset changes.
   *
   * @param clockOffset The system clock minus the monotonic clock, in ms.
   */
  toMeasurement(clockOffset: number): Measurement | undefined {
    if (!this.#measurement || clockOffset !== this.#clockOffset) {
      this.#clockOffset = clockOffset;
      this.#measurement = this.#join(clockOffset);
    }
    return this.#measurement;
  }

  #join(clockOffset: number): Measurement | undefined {
    const sensors = new Map<string, Measurement>();
    for (const [name, { json, arrival }] of [...this.#lines].reverse()) {
      const time = Math.round(arrival + clockOffset);
      sensors.set(name, { json, time });
    }
    const [latest] = sensors.values();
    if (!latest || sensors.has(THE_SENSOR)) return latest;
    const members = Array.from(
      sensors,
      ([name, { json }]) => `${JSON.stringify(name)}:${json}`,
    );
    return { json: `{${members.join(",")}}`, time: latest.time, sensors };
  }

  #removeWhile(condition: (line: { arrival: number }) => boolean): string[] {
    const removed = [];
    for (const [name, line] of this.#lines) {
      if (!condition(line)) break;
      this.#delete(name);
      removed.push(name);
    }
    return removed;
  }

  #delete(name: string): void {
    const line = this.#lines.get(name);
    if (line) this.#characters -= name.length + line.json.length;
    this.#lines.delete(name);
    this.#measurement = undefined;
  }
}
