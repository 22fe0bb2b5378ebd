import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { withAccessLog } from "./http/access_log.ts";
import { createErrorHandler, withErrors } from "./http/errors.ts";
import { withContext, withHead } from "./http/handler.ts";
import {
  createRouter,
  createSensorLookup,
  createTextLookup,
  type Sensors,
} from "./http/resources.ts";
import { Responses } from "./http/responses.ts";
import { createLogger, type Logger, withPriority } from "./log/logger.ts";
import { parseCommand } from "./process/command_line.ts";
import { History } from "./sensor/history.ts";
import {
  followInput,
  warnOfIgnoredInput,
  withJsonHint,
} from "./sensor/input.ts";
import { LastReadings } from "./sensor/last_readings.ts";
import { createJsonParser, parseText } from "./sensor/line_parser.ts";
import { SensorLog } from "./sensor/sensor_log.ts";
import { ListenError } from "./server/listener.ts";
import { MemoryError } from "./server/memory.ts";
import { Server } from "./server/server.ts";
import { SYSTEM, type System } from "./system.ts";
import { VERSION } from "./version.ts";

const OUTPUT_TIMEOUT_MS = 900; // for the log, and again for an error message

/**
 * Runs a command. Returns 0 (clean stop), 1 (failure) or 2 (invalid usage). With
 * `--journal`, a failure that no restart can mend is also a 2: systemd starts the service
 * again after any other code.
 */
export async function runProgram(
  args: string[],
  system = SYSTEM,
): Promise<number> {
  const command = parseCommand(args);
  if (command.kind === "invalid") {
    await printError(system, command.text, command.journal);
    return 2;
  }
  if (command.kind === "print") {
    try {
      await print(system.stdout, command.text);
      return 0;
    } catch (error) {
      await printError(system, `Cannot write: ${error}`);
      return 1;
    }
  }
  const { config } = command;
  try {
    await serve(config, system);
    return 0;
  } catch (error) {
    await printError(system, formatError(error, config), config.journal);
    const isFinal = error instanceof ListenError && error.kind === "impossible";
    return config.journal && isFinal ? 2 : 1;
  }
}

async function serve(config: Config, system: System): Promise<void> {
  const { stdout, stderr } = system;
  // systemd opens the FIFO of the readings as standard output, too: see datasensor.service
  const output = config.journal ? stderr : stdout;
  const sink = (bytes: Uint8Array) => output.write(bytes);
  const level = config.debug ? "DEBUG" : "INFO";
  const isColored = output.isTerminal() && !system.noColor;
  const consoleStyle = isColored ? "color" : "plain";
  const style = config.journal ? "journal" : consoleStyle;
  const { logger, writer } = createLogger(sink, level, style, system);
  // The journal outlasts updates, so it names the version that logs what follows
  if (config.journal) logger.info(VERSION);
  const uncaught = system.uncaughtErrorSignal();
  const stop = AbortSignal.any([system.stopSignal(), uncaught]);

  const sensors = config.stdin
    ? followSensors(config, system, logger, stop)
    : undefined;
  if (!sensors) warnOfIgnoredInput(system.stdin, logger);

  const responses = new Responses(config.cors, system);
  const lookup = sensors
    ? createSensorLookup(sensors, responses)
    : createTextLookup(config.message, responses);
  const onError = createErrorHandler(responses, logger);
  const router = createRouter(lookup, responses);
  // Outermost first. An error outside withErrors() still becomes a 500, by Deno.serve's
  // onError, but has no access line
  const handler = withContext(
    withAccessLog(withHead(withErrors(router, onError)), writer, system),
  );

  const application = { handler, onError };
  const server = new Server(config, application, logger, system);
  try {
    await server.run(stop);
    uncaught.throwIfAborted();
  } finally {
    await waitForOutput(writer.flush(), system);
  }
}

/**
 * Follows what sensors print to standard input, as long as the service runs: keeps their last
 * readings and their history, and logs which of them fall silent.
 */
function followSensors(
  { json, keys, maxAgeSeconds, journal }: Config,
  system: System,
  logger: Logger,
  stop: AbortSignal,
): Sensors {
  const parse = json ? createJsonParser(keys) : withJsonHint(parseText, logger);
  const hint = journal
    ? "its messages in the journal may say why"
    // Most programs print some KB at once, unless they print to a terminal
    : "in a pipe, it may buffer its output, or its line may lack a line feed at the end";
  const haveNames = keys !== undefined;
  const readings = new LastReadings(haveNames, maxAgeSeconds, hint, system);
  const history = new History(system);
  const log = new SensorLog(readings, maxAgeSeconds, logger, system);
  const tick = () => {
    const snapshot = readings.snapshot();
    history.sample(snapshot);
    log.compare(snapshot);
  };
  // Nobody awaits these. What they throw is uncaught, and ends the service
  followInput(system, parse, readings, logger, stop);
  everySecond(tick, stop, system);
  return { readings, history };
}

/** Calls a function once a second until the signal to stop. */
async function everySecond(call: () => void, stop: AbortSignal, clock: Clock) {
  while (!stop.aborted) {
    await clock.delay(1000);
    call();
  }
}

/** Returns what to print of an error that has ended the service. */
function formatError(error: unknown, { debug }: Config): string {
  const explainsItself = error instanceof ListenError ||
    error instanceof MemoryError;
  if (explainsItself) return error.message;
  return debug && error instanceof Error ? error.stack! : String(error);
}

/** Prints an error as systemd's journal or a person reads it. */
async function printError(
  system: System,
  text: string,
  journal = false,
): Promise<void> {
  const message = journal ? withPriority("ERROR", text) : text;
  const printed = print(system.stderr, message);
  await waitForOutput(printed.catch(() => {}), system); // there is nowhere to report it
}

async function print(
  stream: System["stdout" | "stderr"],
  text: string,
): Promise<void> {
  let bytes = new TextEncoder().encode(`${text}\n`);
  while (bytes.length > 0) bytes = bytes.subarray(await stream.write(bytes));
}

async function waitForOutput(
  written: Promise<void>,
  { delay }: Clock,
): Promise<void> {
  await Promise.race([written, delay(OUTPUT_TIMEOUT_MS)]);
}
