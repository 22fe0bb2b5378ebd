import type { Clock } from "../clock.ts";
import { excerpt } from "./excerpt.ts";
import { limitWarnings, type Logger } from "../log/logger.ts";
import type { LastReadings } from "./last_readings.ts";
import { createJsonParser, type LineParser } from "./line_parser.ts";
import { type Input, isBlank, readLines } from "./line_reader.ts";
import type { Fault } from "./line_rules.ts";

const STOP_DELAY_MS = 200; // Ctrl+C may end the sensor before it stops the service
const JSON_HINT =
  "Lines are JSON objects, but --json is not set: each is served as one string, without its numbers";

/**
 * Makes each line of an input a reading, unless it is blank or invalid. Logs the end of
 * the input, unless the signal to stop comes with it.
 */
export async function followInput(
  system: Clock & { readonly stdin: Input },
  parse: LineParser,
  readings: LastReadings,
  logger: Logger,
  stop: AbortSignal,
): Promise<void> {
  const warn = limitWarnings(logger, system);
  const drop = (bytes: Uint8Array, { problem, remedy }: Fault) => {
    readings.addInvalid();
    warn(problem, () => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      return `, such as ${excerpt(text)}. ${remedy}`;
    });
  };
  let failure = "";
  const read = (buffer: Uint8Array) =>
    system.stdin.read(buffer).catch((error) => {
      failure = ` (${error})`;
      return null; // as at the end
    });
  for await (const { bytes, fault } of readLines({ read }, system)) {
    if (isBlank(bytes)) continue;
    const parsed = fault ?? parse(bytes);
    if ("problem" in parsed) drop(bytes, parsed);
    else readings.set(parsed.json, parsed.name);
  }
  const end = failure ? "failed" : "ended";
  readings.end(end);
  await system.delay(STOP_DELAY_MS);
  if (stop.aborted) return;
  logger.warn(`The input has ${end}${failure}: no new readings will arrive`);
}

/** Wraps a parser of any text: warns once that lines are JSON objects, without `--json`. */
export function withJsonHint(parse: LineParser, logger: Logger): LineParser {
  const parseJson = createJsonParser();
  let hasWarned = false;
  return (line) => {
    const isBrace = line[0] === 0x7b; // {
    if (isBrace && !hasWarned && "json" in parseJson(line)) {
      hasWarned = true;
      logger.warn(JSON_HINT);
    }
    return parse(line);
  };
}

/**
 * Warns once if anything arrives, since it is ignored. A terminal is not read, since reading
 * it would stop a job in the background. A pipe stays open: closing it would kill its writer.
 */
export async function warnOfIgnoredInput(
  input: Input & Pick<typeof Deno.stdin, "isTerminal">,
  logger: Logger,
): Promise<void> {
  if (input.isTerminal()) return;
  const count = await input.read(new Uint8Array(1)).catch(() => null); // such as a folder
  if (count === null) return; // it is empty, closed or unreadable
  logger.warn("Lines arrive on standard input, but --stdin is not set");
}
