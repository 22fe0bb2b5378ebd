import type { Logger } from "@std/log/logger";
import { delay } from "../delay.ts";
import { limitWarnings } from "../log/logger.ts";
import type { LastReading } from "./last_reading.ts";
import { type Input, ReadError, readLines } from "./line_reader.ts";

const EXCERPT_CHARACTERS = 80;
const NOT_JSON = "Dropping lines that are not JSON";
const NOT_JSON_REMEDY =
  ". Print a whole JSON text on each line, numbers with a decimal point, or omit --json to serve any text";
const STOP_DELAY_MS = 200; // Ctrl+C may end the sensor before it stops the service
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/**
 * Makes each line of an input the last reading, unless it is blank or invalid. Logs the
 * end of the input, unless the signal to stop comes with it.
 */
export async function followInput(
  input: Input,
  isJson: boolean,
  lastReading: LastReading,
  logger: Logger,
  stop: AbortSignal,
  now = () => performance.now(),
  wait = delay,
): Promise<void> {
  const toJson = isJson ? decodeJson : encodeText;
  const warn = limitWarnings(logger, now);
  const drop = (problem: string, line: Uint8Array, remedy = "") => {
    lastReading.addInvalid();
    warn(problem, () => `, such as ${excerpt(line)}${remedy}`);
  };
  const end = async (how: "ended" | "failed", reason = "") => {
    lastReading.end(how);
    await wait(STOP_DELAY_MS);
    if (stop.aborted) return;
    logger.warn(`The input has ${how}${reason}: no new readings will arrive`);
  };
  try {
    for await (const line of readLines(input, drop, now, wait)) {
      if (line.every((byte) => byte <= 0x20)) continue; // nothing visible
      const json = toJson(line);
      if (json === undefined) drop(NOT_JSON, line, NOT_JSON_REMEDY);
      else lastReading.set(json);
    }
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    return await end("failed", ` (${error.message})`);
  }
  await end("ended");
}

/**
 * Warns once if anything arrives, since it is ignored. A terminal is not read, which would
 * stop a job in the background. The input stays open: closing a pipe would kill its writer.
 */
export async function warnOfIgnoredInput(
  input: Input & Pick<typeof Deno.stdin, "isTerminal">,
  logger: Logger,
): Promise<void> {
  if (input.isTerminal()) return;
  const count = await input.read(new Uint8Array(1)).catch(() => null); // a folder
  if (count === null) return; // it is empty, closed or unreadable
  logger.warn("Lines arrive on standard input, but --stdin is not set");
}

/**
 * Returns the text of a line if it is a JSON text in UTF-8 (RFC 8259, section 8.1), or
 * undefined.
 */
function decodeJson(line: Uint8Array): string | undefined {
  try {
    const text = STRICT_UTF8.decode(line);
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

/** Returns any text as a JSON string. */
const encodeText = (line: Uint8Array) => JSON.stringify(UTF8.decode(line));

/** Quotes the start of a line, and escapes what a terminal hides, such as a BOM. */
function excerpt(line: Uint8Array): string {
  const text = UTF8.decode(line).slice(0, EXCERPT_CHARACTERS);
  return JSON.stringify(text).replace(/[^ -~]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `\\u${hex.padStart(4, "0")}`;
  });
}
