// The whole lines of an input.

import { delay } from "./delay.ts";

/** Standard input, or a test's. */
export type Input = Pick<typeof Deno.stdin, "read">;

/** Receives a line that is dropped, or its start, and what is wrong with it. */
export type Drop = (problem: string, line: Uint8Array) => void;

export const MAX_LINE_BYTES = 64 * 1024; // without the end of the line
export const TOO_LONG = `longer than ${MAX_LINE_BYTES} bytes`;
export const READ_PAUSE_MS = 5; // so that an endless input leaves time for requests
const LINE_PAUSE_MS = 900; // of a second that a line may pause, as a read starts late
const NONBLOCKING_RETRY_MS = 100;
const [LF, CR] = [0x0a, 0x0d] as const;

/**
 * Yields the whole lines of each read. Drops a line that is too long or has no end,
 * and one that pauses: a writer that died within it may be followed by another one.
 */
export async function* readLines(
  input: Input,
  drop: Drop,
  now: () => number,
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(MAX_LINE_BYTES + 2); // a line with its CRLF
  let length = 0; // of the incomplete line at the start of the buffer
  let isSkipping = false; // until the end of a line that has been dropped
  while (true) {
    const start = now();
    const count = await read(input, buffer.subarray(length));
    if (count === null) {
      if (length > 0) drop("without a line feed", buffer.subarray(0, length));
      return;
    }
    if (length > 0 && now() - start > LINE_PAUSE_MS) {
      drop("that pause before they end", buffer.subarray(0, length));
      isSkipping = true;
    }
    length += count;
    const bytes = buffer.subarray(0, length);
    const end = bytes.lastIndexOf(LF) + 1;
    if (end > 0) {
      yield bytes.subarray(isSkipping ? bytes.indexOf(LF) + 1 : 0, end);
      isSkipping = false;
    } else if (length === buffer.length && !isSkipping) {
      drop(TOO_LONG, bytes);
      isSkipping = true;
    }
    const rest = isSkipping ? length : end; // what follows is kept
    buffer.copyWithin(0, rest, length);
    length -= rest;
    await delay(READ_PAUSE_MS);
  }
}

/** Reads from an input, even if the process that started this made it non-blocking. */
async function read(input: Input, bytes: Uint8Array): Promise<number | null> {
  while (true) {
    try {
      return await input.read(bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await delay(NONBLOCKING_RETRY_MS);
    }
  }
}
/** Yields the lines, without their LF or CRLF. */
export function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const index = bytes.indexOf(LF, start);
    const end = index < 0 ? bytes.length : index;
    yield bytes.subarray(start, bytes[end - 1] === CR ? end - 1 : end);
    start = end + 1;
  }
}
