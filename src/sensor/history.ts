import type { Clock } from "../clock.ts";
import { listNumbers } from "./numbers.ts";
import { MAX_RESPONSE_CHARACTERS, type Snapshot } from "./reading.ts";
import { DIRECTION, nameSeries, toTurn } from "./series.js";

const SLOT_MS = 5 * 60_000;
const MAX_SLOTS = 288; // a day
const NO_CELLS = ",,"; // of a slot without a sample
const MAX_SERIES = 128;
const MAX_WALKED = 1000; // how many numbers of a sensor are looked at: a hostile line has 32,000
const MAX_SERIES_NAME_CHARACTERS = 400; // of a sensor and a key
const TIME_CHARACTERS = "2026-11-26T12:05:00Z\r\n".length;
const KEPT_SLOTS = 12; // after an hour, a series is not dropped for new ones
const MIN_ROW_SHIFT_MS = 1000; // a clock that is slewed moves no row

/** The slots of the last day of a number. */
class Series {
  /** What each sample adds: the current number, or undefined while it is absent. */
  current: number | undefined;
  /** The cells of each closed slot, as text: numbers take more memory. */
  readonly cells: string[] = Array(MAX_SLOTS).fill(NO_CELLS);
  /** In how many of these the number was current. */
  filled = 0;
  #samples = 0; // in the open slot
  #low = 0;
  #mean = 0;
  #high = 0;

  /** @param isDirection Whether the number is a direction in degrees. */
  constructor(private readonly isDirection: boolean) {}

  /** Adds the current number to the open slot. */
  sample(): void {
    const { current } = this;
    if (current === undefined) return;
    const samples = ++this.#samples;
    this.#low = samples === 1 ? current : Math.min(this.#low, current);
    this.#high = samples === 1 ? current : Math.max(this.#high, current);
    this.#mean += this.isDirection
      ? toTurn(current % 360 - this.#mean, -180) / samples // the shorter way
      : current / samples - this.#mean / samples; // a sum may be infinite
  }

  /** Closes the open slot, and those after it in which there was no sample. */
  close(count: number): void {
    const gap = Array(Math.min(count - 1, MAX_SLOTS)).fill(NO_CELLS);
    this.cells.push(this.#samples > 0 ? this.#format() : NO_CELLS, ...gap);
    this.cells.splice(0, 1 + gap.length);
    this.filled = this.cells.filter((text) => text !== NO_CELLS).length;
    this.#samples = 0;
    this.#mean = 0;
  }

  #format(): string {
    const turnStart = this.#low < 0 ? -180 : 0; // some count from -180 to 180°
    const mean = this.isDirection
      ? Number(toTurn(this.#mean, turnStart).toFixed(6)) % 360
      : roundMean(this.#mean);
    return [this.#low, mean, this.#high].join();
  }
}

/** Rounds a mean to nine significant digits or, if it has more, to its integer part. */
function roundMean(mean: number): number {
  return Math.abs(mean) < 1e9 ? Number(mean.toPrecision(9)) : Math.round(mean);
}

/**
 * The lowest, mean and highest of each number in each five minutes of the last day, as far as
 * the number was current, in memory only. The monotonic clock divides the day.
 */
export class History {
  readonly #series = new Map<string, Series>(); // by name, the oldest first
  #sampled: Snapshot["current"] | undefined;
  #slot = 0; // the open one
  #clockOffset = 0; // the wall clock minus the monotonic clock
  #csv: Uint8Array<ArrayBuffer> | undefined; // until a slot is closed, or the clock is set

  constructor(private readonly clock: Clock) {}

  /** Whether it has no series. */
  get isEmpty(): boolean {
    return this.#series.size === 0;
  }

  /** Adds the current numbers to their slot. To be called once a second. */
  sample({ current }: Snapshot): void {
    const count = Math.floor(this.clock.monotonicTime() / SLOT_MS) - this.#slot;
    if (count > 0) this.#closeSlots(count);
    if (count > 0 || current !== this.#sampled) this.#setCurrent(current);
    for (const series of this.#series.values()) series.sample();
  }

  /** Returns a CSV text (RFC 4180) with a row for each closed slot. */
  csv(): Uint8Array<ArrayBuffer> {
    const offset = this.clock.wallTime() - this.clock.monotonicTime();
    if (Math.abs(offset - this.#clockOffset) >= MIN_ROW_SHIFT_MS) {
      this.#clockOffset = offset;
      this.#csv = undefined;
    }
    return this.#csv ??= new TextEncoder().encode(this.#format());
  }

  /** Closes slots that are over, and drops series that were not current for a day. */
  #closeSlots(count: number): void {
    for (const [name, series] of this.#series) {
      series.close(count);
      if (series.filled === 0) this.#series.delete(name);
    }
    this.#slot += count;
    this.#csv = undefined;
  }

  /** Sets the current numbers, and adds new ones as far as there is room. */
  #setCurrent(current: Snapshot["current"]): void {
    this.#sampled = current;
    for (const series of this.#series.values()) series.current = undefined;
    const added = new Map<string, number>();
    for (const [name, number] of listCurrent(current)) {
      const series = this.#series.get(name);
      if (series) series.current = number;
      else if (added.size < MAX_SERIES) added.set(name, number);
    }
    for (const [name, number] of added) {
      if (!this.#makeRoom()) return;
      const series = new Series(DIRECTION.test(name));
      series.current = number;
      this.#series.set(name, series);
    }
  }

  /**
   * Drops a series if there are too many: of those that are not current, and were seen for less
   * than an hour, the one that was seen least. So a sensor that has just died stays,
   * however many others pass. Returns whether there is room.
   */
  #makeRoom(): boolean {
    if (this.#series.size < MAX_SERIES) return true;
    const [least] = [...this.#series].filter(([, { current, filled }]) =>
      current === undefined && filled < KEPT_SLOTS
    ).sort(([, a], [, b]) => a.filled - b.filled);
    return least !== undefined && this.#series.delete(least[0]);
  }

  #format(): string {
    let room = MAX_RESPONSE_CHARACTERS - TIME_CHARACTERS * (1 + MAX_SLOTS);
    const listed = [...this.#series].filter(([, { filled }]) => filled > 0)
      .sort(([, a], [, b]) => b.filled - a.filled)
      // Without room for all, those with the fewest slots are left out
      .filter(([name, { cells }]) => {
        room -= [...nameColumns(name), ...cells].join().length + 1;
        return room > 0;
      })
      .sort(([a], [b]) => a < b ? -1 : 1); // in the same order after each restart
    const names = listed.flatMap(([name]) => nameColumns(name));
    const lines = [["time", ...names].join(",")];
    for (let row = 0; row < MAX_SLOTS; row++) {
      const cells = listed.map(([, { cells }]) => cells[row]!);
      // The first row is that in which the first series begins
      if (lines.length === 1 && cells.every((text) => text === NO_CELLS)) {
        continue;
      }
      const end = (this.#slot - MAX_SLOTS + row + 1) * SLOT_MS;
      const time = new Date(end + this.#clockOffset).toISOString();
      lines.push([`${time.slice(0, 19)}Z`, ...cells].join(","));
    }
    return lines.map((line) => `${line}\r\n`).join("");
  }
}

/** Returns the names of the columns of a series. None can be a formula of a spreadsheet. */
function nameColumns(series: string): string[] {
  return ["min", "mean", "max"].map((name) => {
    const cell = name + series;
    return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  });
}

/** Yields the current numbers by the names of their series. Of the same name, the last counts. */
function* listCurrent(
  current: Snapshot["current"],
): Generator<[string, number]> {
  for (const [name, { json }] of current) {
    for (const [key, number] of listNumbers(json).take(MAX_WALKED)) {
      const length = name.length + (key?.length ?? 0);
      if (length > MAX_SERIES_NAME_CHARACTERS) continue;
      yield [nameSeries(name, key), number];
    }
  }
}
