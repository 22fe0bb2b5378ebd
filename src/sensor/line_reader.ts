import type { Clock } from "../clock.ts";
import { INVALID, type InvalidLine, MAX_LINE_BYTES } from "./invalid_line.ts";

/** Standard input, or a test's. */
export type Input = Pick<typeof Deno.stdin, "read">;

/** A line. Its bytes are overwritten once the next one is asked for. */
export interface Line {
  /** The line without its LF or CRLF. Of an invalid line, it may be only the start. */
  readonly bytes: Uint8Array;
  /** Why it is invalid, if so. */
  readonly invalid?: InvalidLine;
}

// What prints a line prints it at once. If its end has not come after a second, the program
// may have died, and what the next one prints must not complete the line. This is less than
// a second: the 5 ms that it rests before a read are not counted
const MAX_PAUSE_MS = 900;
const READ_BYTES = 1024; // processed in a few ms, however short and invalid the lines are
const REST_MS = 5; // after each read: requests get a turn, and a flood waits in the pipe
const LF = 0x0a;
const CR = 0x0d;
const CAN = 0x18; // cancel: at the end of a line, it marks what stands before it as incomplete

/** Whether nothing of a line is visible. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte <= 0x20);
}

/** Yields whole lines, and those that are too long, have no end, or pause before it. */
export async function* readLines(
  input: Input,
  { now, delay }: Clock,
): AsyncGenerator<Line> {
  const buffer = new LineBuffer();
  while (true) {
    const waitStart = now();
    const count = await input.read(buffer.room);
    if (count === null) return yield* buffer.end();
    const hasPaused = now() - waitStart > MAX_PAUSE_MS;
    yield* buffer.push(count, hasPaused);
    await delay(REST_MS);
  }
}

/** Keeps the incomplete line at the end of what was read. */
class LineBuffer {
  readonly #bytes = new Uint8Array(MAX_LINE_BYTES + 2); // a line with its CRLF
  #length = 0; // of the incomplete line, which is at the start
  #isDropped = false; // whether the incomplete line is invalid, whatever follows

  /** Where to put the bytes that are read next. It is never empty. */
  get room(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#length, this.#length + READ_BYTES);
  }

  /**
   * Adds bytes that were read into {@linkcode room}, at once or after a pause, and yields
   * the lines that they complete or make invalid.
   */
  *push(count: number, hasPaused: boolean): Generator<Line> {
    // A blank start completes no wrong line: some devices end their lines with LF CR
    const isCut = hasPaused && !isBlank(this.#incomplete);
    if (isCut) yield* this.#drop(INVALID.paused);
    const bytes = this.#bytes.subarray(0, this.#length + count);
    let start = 0;
    let end = bytes.indexOf(LF, this.#length);
    while (end >= 0) {
      const line = bytes.subarray(start, bytes[end - 1] === CR ? end - 1 : end);
      if (!this.#isDropped) yield checkLine(line);
      this.#isDropped = false;
      start = end + 1;
      end = bytes.indexOf(LF, start);
    }
    this.#bytes.copyWithin(0, start, bytes.length);
    this.#length = bytes.length - start;
    if (this.room.length > 0) return;
    yield* this.#drop(INVALID.tooLong);
    this.#length = 0;
  }

  /** Yields the incomplete line, which nothing will complete. */
  end(): Generator<Line> {
    return this.#drop(INVALID.unfinished);
  }

  get #incomplete(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  *#drop(invalid: InvalidLine): Generator<Line> {
    if (this.#isDropped) return;
    this.#isDropped = true;
    yield { bytes: this.#incomplete, invalid };
  }
}

/** Tells a whole line that is too long or marked as incomplete. */
function checkLine(bytes: Uint8Array): Line {
  if (bytes.at(-1) === CAN) {
    return { bytes: bytes.subarray(0, -1), invalid: INVALID.unfinished };
  }
  const invalid = bytes.length > MAX_LINE_BYTES ? INVALID.tooLong : undefined;
  return { bytes, invalid };
}
