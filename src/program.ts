import type { Config } from "./config.ts";
import { delay } from "./delay.ts";
import { withAccessLog } from "./http/access_log.ts";
import { createResource, withErrors, withoutHeadBody } from "./http/handler.ts";
import { withTarget } from "./http/request_target.ts";
import { createResponses } from "./http/responses.ts";
import { createLogger, withPriority } from "./log/logger.ts";
import { parseCommand } from "./process/command_line.ts";
import { stopSignal, uncaughtErrorSignal } from "./process/signals.ts";
import { followInput } from "./sensor/input.ts";
import { LastReading } from "./sensor/last_reading.ts";
import { Descriptors } from "./server/descriptors.ts";
import { ListenError } from "./server/listener.ts";
import { Server } from "./server/server.ts";

const OUTPUT_TIMEOUT_MS = 900; // for the log, and again for an error message

/** The parts of the process that tests replace. */
export const PROCESS = {
  stdin: Deno.stdin,
  stdout: Deno.stdout,
  stderr: Deno.stderr,
  noColor: Deno.noColor,
  stopSignal,
  uncaughtErrorSignal,
  Server,
};

/** Runs a command. Returns 0 (clean stop), 1 (failure) or 2 (invalid usage). */
export async function runProgram(args: string[], process = PROCESS) {
  const command = parseCommand(args);
  const { journal, debug } = command.kind === "serve"
    ? command.config
    : { journal: args.includes("--journal"), debug: false };
  const printError = async (text: string) => {
    const line = journal ? withPriority("ERROR", text) : text;
    const printed = print(process.stderr, line);
    await waitForOutput(printed.catch(() => {})); // there is nowhere to report it
  };
  try {
    if (command.kind === "serve") await serve(command.config, process);
    if (command.kind === "print") await print(process.stdout, command.text);
    if (command.kind !== "invalid") return 0;
    await printError(command.text);
    return 2;
  } catch (error) {
    const details = debug && error instanceof Error ? error.stack : error;
    const isExplained = error instanceof ListenError;
    const doing = command.kind === "print" ? "Cannot write: " : "";
    await printError(isExplained ? error.message : `${doing}${details}`);
    return 1;
  }
}

async function serve(config: Config, process: typeof PROCESS): Promise<void> {
  const { stdin, stdout, noColor, Server } = process;
  const hasColor = stdout.isTerminal() && !noColor;
  const style = config.journal ? "journal" : hasColor ? "color" : "plain";
  const level = config.debug ? "DEBUG" : "INFO";
  const sink = (bytes: Uint8Array) => stdout.write(bytes);
  const { logger, flush } = createLogger(sink, level, style);
  const fixed = { json: JSON.stringify(config.message) };
  const lastReading = new LastReading(config.maxAgeSeconds, logger);
  if (config.stdin) followInput(stdin, config.json, lastReading, logger);
  const sensor = config.stdin ? lastReading.read : () => fixed;
  const responses = createResponses(config.cors);
  const descriptors = new Descriptors(logger);
  // What a request passes, from the inside out
  let handler = createResource(sensor, responses);
  handler = withErrors(handler, responses, logger);
  handler = descriptors.withClosing(handler);
  handler = withAccessLog(handler, logger);
  const application = withoutHeadBody(withTarget(handler));
  const server = new Server(config, application, descriptors, logger);
  const uncaught = process.uncaughtErrorSignal();
  try {
    await server.run(AbortSignal.any([process.stopSignal(), uncaught]));
    uncaught.throwIfAborted();
  } finally {
    await waitForOutput(flush());
  }
}

async function print(stream: typeof Deno.stdout, text: string): Promise<void> {
  await stream.write(new TextEncoder().encode(`${text}\n`));
}

async function waitForOutput(written: Promise<void>): Promise<void> {
  await Promise.race([written, delay(OUTPUT_TIMEOUT_MS)]);
}
