import type { Clock } from "../clock.ts";
import { listNumbers } from "./numbers.ts";
import type { Snapshot } from "./reading.ts";

const SLOT_MS = 5 * 60_000;
const MAX_SLOTS = 288; // a day
const MAX_NUMBERS = 128;
const MAX_LABEL_CHARACTERS = 400;
// Of the whole CSV text: clients that do not read hold as much memory of the kernel each
const MAX_CHARACTERS = 512 * 1024;
const KEPT_SLOTS = 12; // a number that has been seen for an hour makes no room for others
const DIGITS_OF_MEAN = 9;
const CLOCK_TOLERANCE_MS = 1000; // a clock that is slewed moves no row
const EMPTY = ",,"; // the cells of a number that was not current

/** The last day of a number. */
class Day {
  /** The cells of each closed slot since the first one, as text: numbers take more memory. */
  readonly cells: string[] = [];
  /** In how many of these the number was current. */
  filled = 0;

  #looks = 0; // in the open slot
  #low = Infinity;
  #mean = 0;
  #high = -Infinity;

  /** Adds what a look has found. */
  add(number: number): void {
    this.#looks++;
    this.#low = Math.min(this.#low, number);
    this.#high = Math.max(this.#high, number);
    // A sum could become infinite
    this.#mean += number / this.#looks - this.#mean / this.#looks;
  }

  /** Closes the open slot, and the following ones, in which there was no look. */
  close(count: number): void {
    const cells = [this.#low, formatMean(this.#mean), this.#high].join(",");
    this.#push(this.#looks > 0 ? cells : EMPTY);
    const missed = Math.min(count - 1, MAX_SLOTS);
    for (let slot = 0; slot < missed; slot++) this.#push(EMPTY);
    this.#looks = this.#mean = 0;
    this.#low = Infinity;
    this.#high = -Infinity;
  }

  #push(cells: string): void {
    if (this.cells.push(cells) > MAX_SLOTS && this.cells.shift() !== EMPTY) {
      this.filled--;
    }
    if (cells !== EMPTY) this.filled++;
  }
}

/**
 * The lowest, mean and highest of each number in each five minutes of the last day, as far as
 * the number was current, in memory only. A slot of five minutes is one of the monotonic clock.
 */
export class History {
  // By label, in the order in which they were first seen. A label is a column's name without
  // its `min`, `mean` or `max`: empty for a reading that is a number
  readonly #days = new Map<string, Day>();
  #current = new Map<Day, number>(); // at the last look
  #looked: Snapshot["current"] | undefined;
  #slot: number;
  #clockOffset = 0; // the system clock minus the monotonic clock
  #csv: Uint8Array<ArrayBuffer> | undefined; // until a slot is closed, or the clock is set

  constructor(private readonly clock: Clock) {
    this.#slot = this.#slotNow();
  }

  /** Whether no number is remembered. */
  get isEmpty(): boolean {
    return this.#days.size === 0;
  }

  /** Adds the current numbers to their slot. To be called once a second. */
  look({ current }: Snapshot): void {
    const isNewSlot = this.#closeSlots();
    if (isNewSlot || current !== this.#looked) this.#find(current);
    for (const [day, number] of this.#current) day.add(number);
  }

  /** Returns a CSV text (RFC 4180) with a row for each closed slot. */
  csv(): Uint8Array<ArrayBuffer> {
    const offset = this.clock.wallTime() - this.clock.now();
    if (Math.abs(offset - this.#clockOffset) >= CLOCK_TOLERANCE_MS) {
      this.#clockOffset = offset;
      this.#csv = undefined;
    }
    return this.#csv ??= new TextEncoder().encode(this.#format());
  }

  #slotNow(): number {
    return Math.floor(this.clock.now() / SLOT_MS);
  }

  /** Closes slots that are over, if any, and forgets numbers that have not come for a day. */
  #closeSlots(): boolean {
    const count = this.#slotNow() - this.#slot;
    if (count === 0) return false;
    for (const [label, day] of this.#days) {
      day.close(count);
      if (day.filled === 0) this.#days.delete(label);
    }
    this.#slot += count;
    this.#csv = undefined;
    return true;
  }

  /** Finds the current numbers, and remembers new ones as far as there is room. */
  #find(current: Snapshot["current"]): void {
    this.#looked = current;
    this.#current = new Map();
    const added = new Map<string, number>();
    for (const [label, number] of listLabels(current)) {
      const day = this.#days.get(label);
      if (day) this.#current.set(day, number);
      else if (added.has(label) || added.size < MAX_NUMBERS) {
        added.set(label, number);
      }
    }
    for (const [label, number] of added) {
      if (!this.#makeRoom()) return;
      const day = new Day();
      this.#days.set(label, day);
      this.#current.set(day, number);
    }
  }

  /**
   * Forgets a number if there are too many: of those that are not current, and were seen for
   * less than an hour, the one that was seen least. A sensor that has just died stays, however
   * many others pass. Returns whether there is room.
   */
  #makeRoom(): boolean {
    if (this.#days.size < MAX_NUMBERS) return true;
    let least = KEPT_SLOTS;
    let forgotten: string | undefined;
    for (const [label, day] of this.#days) {
      if (day.filled >= least || this.#current.has(day)) continue;
      least = day.filled;
      forgotten = label;
    }
    return forgotten !== undefined && this.#days.delete(forgotten);
  }

  #format(): string {
    const columns = this.#chooseColumns();
    const names = columns.flatMap(([label]) =>
      ["min", "mean", "max"].map((name) => quote(name + label))
    );
    const lines = [["time", ...names].join(",")];
    const length = Math.max(0, ...columns.map(([, { cells }]) => cells.length));
    for (let ago = length; ago > 0; ago--) { // in slots
      const end = (this.#slot - ago + 1) * SLOT_MS + this.#clockOffset;
      const time = `${new Date(end).toISOString().slice(0, 19)}Z`;
      const cells = columns.map(([, { cells }]) => cells.at(-ago) ?? EMPTY);
      lines.push([time, ...cells].join(","));
    }
    return lines.map((line) => `${line}\r\n`).join("");
  }

  /** Returns the days that fit. Those with the fewest slots are left out. */
  #chooseColumns(): [label: string, Day][] {
    const days = [...this.#days].filter(([, { filled }]) => filled > 0);
    const longest = Math.max(0, ...days.map(([, { cells }]) => cells.length));
    let room = MAX_CHARACTERS -
      (longest + 1) * "2026-11-26T12:00:00Z\r\n".length;
    const fits = new Set<Day>();
    for (
      const [label, day] of days.sort(([, a], [, b]) => b.filled - a.filled)
    ) {
      room -= 3 * quote(`,mean${label}`).length + longest * `,${EMPTY}`.length;
      for (const { length } of day.cells) room -= length;
      if (room < 0) break;
      fits.add(day);
    }
    return [...this.#days].filter(([, day]) => fits.has(day));
  }
}

/** Yields the current numbers with their labels: the last of those with the same label. */
function* listLabels(
  current: Snapshot["current"],
): Generator<[string, number]> {
  for (const [name, { json }] of current) {
    // Within a name, `: ` is escaped: a sensor `a` may have a key `b: c`
    const start = name && `${name.replaceAll(": ", "%3A ")}: `;
    for (const [key, number] of listNumbers(json)) {
      const label = key === undefined ? "" : ` ${start}${key}`;
      if (label.length > MAX_LABEL_CHARACTERS + 1) continue;
      yield [label.toWellFormed(), number];
    }
  }
}

/** Formats a mean with nine significant digits or, if it has more, its integer part. */
function formatMean(mean: number): number {
  return Math.abs(mean) < 10 ** DIGITS_OF_MEAN
    ? Number(mean.toPrecision(DIGITS_OF_MEAN))
    : Math.round(mean);
}

/** Quotes a cell if it needs quotes. */
function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
