// The program: arguments in, exit code out.

import { withAccessLog } from "./access_log.ts";
import { parseCommand } from "./command_line.ts";
import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { createHandler } from "./handler.ts";
import { createLogger, withPriority } from "./logger.ts";
import { requestTarget } from "./request_target.ts";
import { createInputSensor } from "./sensor.ts";
import { runServer } from "./server.ts";
import { stopSignal, uncaughtErrorSignal } from "./signals.ts";
import { ListenError } from "./startup.ts";

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
  if (command.kind === "print") {
    await print(process.stdout, command.text); // without a time-out: its reader may be slow
    return 0;
  }
  const style = args.includes("--journal") ? "journal" : "plain";
  const text = withPriority(command.text, "ERROR", style);
  await waitForOutput(print(process.stderr, text));
  return 2;
}

async function serve(config: Config, process: typeof PROCESS): Promise<number> {
  const { stdin, stdout, stderr, noColor } = process;
  const hasColor = stdout.isTerminal() && !noColor;
  const style = config.journal ? "journal" : hasColor ? "color" : "plain";
  const level = config.debug ? "DEBUG" : "INFO";
  const sink = (bytes: Uint8Array) => stdout.write(bytes);
  const { logger, flush } = createLogger(sink, level, style);
  const reading = { json: JSON.stringify(config.message) };
  const sensor = config.stdin
    ? createInputSensor(stdin, config, logger)
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
    await waitForOutput(print(stderr, withPriority(text, "ERROR", style)));
    return 1;
  }
}

async function print(stream: typeof Deno.stdout, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${text}\n`);
  await stream.write(bytes).catch(() => {}); // there is nowhere to report it
}

async function waitForOutput(written: Promise<void>): Promise<void> {
  await Promise.race([written, delay(OUTPUT_TIMEOUT_MS)]);
}
