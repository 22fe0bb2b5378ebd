import type { Clock } from "../clock.ts";
import { type Fault, FAULTS, MAX_LINE_BYTES } from "./line_rules.ts";

/** Standard input, or a test's. */
export type Input = Pick<typeof Deno.stdin, "read">;

/** A line. Its bytes are overwritten once the next one is asked for. */
export interface Line {
  /** The line without its LF or CRLF. Of an invalid line, it may be only the start. */
  readonly bytes: Uint8Array;
  /** Why it is invalid, if so. */
  readonly fault?: Fault;
}

// What prints a line prints it at once. If its end has not come after a second, the program
// may have died, and what the next one prints must not complete the line. It is less than a
// second here, since rests are not counted
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
  { monotonicTime, delay }: Clock,
): AsyncGenerator<Line> {
  const buffer = new Uint8Array(MAX_LINE_BYTES + 2); // a line with its CRLF
  let length = 0; // of the incomplete line, which is at the start
  let isDropped = false; // whether it is invalid, whatever follows
  while (true) {
    const waitStart = monotonicTime();
    const room = buffer.subarray(length, length + READ_BYTES);
    const count = await input.read(room);
    const hasPaused = monotonicTime() - waitStart > MAX_PAUSE_MS;
    const incomplete = buffer.subarray(0, length);
    // A blank start completes no wrong line: some devices end their lines with LF CR
    if (count === null || hasPaused && !isBlank(incomplete)) {
      const fault = count === null ? FAULTS.unfinished : FAULTS.paused;
      if (!isDropped) yield { bytes: incomplete, fault };
      isDropped = true;
    }
    if (count === null) return;
    const bytes = buffer.subarray(0, length + count);
    let start = 0;
    let end = bytes.indexOf(LF, length);
    while (end >= 0) {
      const lineEnd = bytes[end - 1] === CR ? end - 1 : end;
      if (!isDropped) yield checkLine(bytes.subarray(start, lineEnd));
      isDropped = false;
      start = end + 1;
      end = bytes.indexOf(LF, start);
    }
    bytes.copyWithin(0, start);
    length = bytes.length - start;
    if (length === buffer.length) {
      if (!isDropped) yield { bytes, fault: FAULTS.tooLong };
      isDropped = true;
      length = 0;
    }
    await delay(REST_MS);
  }
}

/** Checks a line that has its end: it may be too long, or marked as incomplete. */
function checkLine(bytes: Uint8Array): Line {
  if (bytes.at(-1) === CAN) {
    return { bytes: bytes.subarray(0, -1), fault: FAULTS.unfinished };
  }
  const fault = bytes.length > MAX_LINE_BYTES ? FAULTS.tooLong : undefined;
  return { bytes, fault };
}
