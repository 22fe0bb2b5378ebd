import { delay } from "../delay.ts";

/** The input cannot be read any more. The message says why. */
export class ReadError extends Error {}

/** Standard input, or a test's. */
export type Input = Pick<typeof Deno.stdin, "read">;

export const MAX_LINE_BYTES = 64 * 1024; // without the end of the line
const TOO_LONG = `Dropping lines longer than ${MAX_LINE_BYTES} bytes`;
const UNFINISHED = "Dropping lines without a line feed";
const PAUSED = "Dropping lines that pause before they end";
// Shorter than RestartSec= of datasensor-sensor.service, 2 s, also if the pause begins during
// a rest: a sensor that is started again must not complete the line within which it died
const MAX_PAUSE_MS = 900;
const WORK_MS = 2; // how long lines are processed before a rest
const REST_MS = 5; // this rest, and the shortest after a read: requests get a turn
const MAX_BYTES_PER_MS = 1000; // far above any sensor: more waits in the pipe
const LF = 0x0a;
const CR = 0x0d;

/**
 * Yields whole lines, without their LF or CRLF, as bytes that are overwritten later.
 * Drops those that are too long or have no end, and those that pause: a writer that
 * died within a line may be followed by another one.
 *
 * @throws {ReadError} If a read fails.
 */
export async function* readLines(
  input: Input,
  drop: (problem: string, lineOrStart: Uint8Array) => void,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(MAX_LINE_BYTES + 2); // a line with its CRLF
  let length = 0; // of the incomplete line at the start of the buffer
  let isSkipping = false; // until the end of a line whose start has been dropped
  while (true) {
    const waitStart = now();
    const count = await read(input, buffer.subarray(length));
    if (count === null) {
      if (length > 0) drop(UNFINISHED, buffer.subarray(0, length));
      return;
    }
    if (length > 0 && now() - waitStart > MAX_PAUSE_MS) {
      drop(PAUSED, buffer.subarray(0, length));
      isSkipping = true;
    }
    length += count;
    const bytes = buffer.subarray(0, length);
    let restAt = now() + WORK_MS;
    for (const line of splitLines(bytes)) {
      if (isSkipping) isSkipping = false;
      else if (line.length > MAX_LINE_BYTES) drop(TOO_LONG, line);
      else yield line;
      if (now() < restAt) continue;
      await delay(REST_MS);
      restAt = now() + WORK_MS;
    }
    const incomplete = bytes.subarray(bytes.lastIndexOf(LF) + 1);
    if (incomplete.length === buffer.length && !isSkipping) {
      drop(TOO_LONG, incomplete);
      isSkipping = true;
    }
    buffer.set(incomplete);
    length = isSkipping ? 0 : incomplete.length; // nothing of a skipped line is kept
    await delay(Math.max(REST_MS, count / MAX_BYTES_PER_MS));
  }
}

/** Reads, and tells a failed read from any other error. */
async function read(input: Input, bytes: Uint8Array): Promise<number | null> {
  try {
    return await input.read(bytes);
  } catch (error) {
    throw new ReadError(`${error}`);
  }
}

/** Yields the whole lines in bytes, without their LF or CRLF. */
function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
    yield bytes.subarray(start, bytes[end - 1] === CR ? end - 1 : end);
    start = end + 1;
  }
}
