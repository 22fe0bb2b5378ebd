// The program: arguments in, exit code out.

import { withAccessLog } from "./http/access_log.ts";
import { parseCommand } from "./process/command_line.ts";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { createHandler } from "./http/handler.ts";
import { createLogger, type LogStyle, withPriority } from "./log/logger.ts";
import { requestTarget } from "./http/request_target.ts";
import { InputSensor } from "./sensor/sensor.ts";
import { runServer } from "./server/server.ts";
import { stopSignal, uncaughtErrorSignal } from "./process/signals.ts";
import { ListenError } from "./server/start_report.ts";

const OUTPUT_TIMEOUT_MS = 900; // for the log, and again for an error message

/** The parts of the process that tests replace. */
export const PROCESS = {
  stdin: Deno.stdin,
  stdout: Deno.stdout,
  stderr: Deno.stderr,
  noColor: Deno.noColor,
  stopSignal,
  uncaughtErrorSignal,
  runServer,
};

/** Runs a command. Returns 0 (clean stop), 1 (failure) or 2 (invalid usage). */
export async function runProgram(
  args: readonly string[],
  process: typeof PROCESS = PROCESS,
): Promise<number> {
  const command = parseCommand(args);
  if (command.kind === "serve") return await serve(command.config, process);
  if (command.kind === "print") return await printText(command.text, process);
  const style = args.includes("--journal") ? "journal" : "plain";
  await printError(command.text, style, process);
  return 2;
}

async function printText(text: string, process: typeof PROCESS) {
  try {
    await print(process.stdout, text); // without a time-out: its reader may be slow
    return 0;
  } catch (error) {
    const problem = `Cannot write to standard output: ${error}`;
    await printError(problem, "plain", process);
    return 1;
  }
}

async function serve(config: Config, process: typeof PROCESS): Promise<number> {
  const { stdin, stdout, noColor } = process;
  const hasColor = stdout.isTerminal() && !noColor;
  const style = config.journal ? "journal" : hasColor ? "color" : "plain";
  const level = config.debug ? "DEBUG" : "INFO";
  const sink = (bytes: Uint8Array) => stdout.write(bytes);
  const { logger, flush } = createLogger(sink, level, style);
  const reading = { json: JSON.stringify(config.message) };
  const sensor = config.stdin
    ? new InputSensor(stdin, config, logger).read
    : () => reading;
  const respond = createHandler(sensor, config.cors);
  const handler = withAccessLog(respond, (line) => logger.info(line));
  const uncaught = process.uncaughtErrorSignal();
  try {
    await process.runServer(
      config,
      (request, client) => handler(request, requestTarget(request), client),
      logger,
      AbortSignal.any([process.stopSignal(), uncaught]),
    );
    uncaught.throwIfAborted();
    await waitForOutput(flush());
    return 0;
  } catch (error) {
    await waitForOutput(flush());
    const text = error instanceof ListenError
      ? error.message
      : String(config.debug && error instanceof Error ? error.stack : error);
    await printError(text, style, process);
    return 1;
  }
}

async function printError(
  text: string,
  style: LogStyle,
  { stderr }: typeof PROCESS,
): Promise<void> {
  const printed = print(stderr, withPriority(text, "ERROR", style));
  await waitForOutput(printed.catch(() => {})); // there is nowhere to report it
}

async function print(stream: typeof Deno.stdout, text: string): Promise<void> {
  await stream.write(new TextEncoder().encode(`${text}\n`));
}

async function waitForOutput(written: Promise<void>): Promise<void> {
  await Promise.race([written, delay(OUTPUT_TIMEOUT_MS)]);
}
