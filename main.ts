// The entry point. It exits with 0 (clean stop), 1 (failure) or 2 (invalid usage).

import { withAccessLog } from "./src/access_log.ts";
import { parseCommand } from "./src/command_line.ts";
import type { Config } from "./src/config.ts";
import { delay } from "./src/delay.ts";
import { createHandler } from "./src/handler.ts";
import { createLogger, withPriority } from "./src/logger.ts";
import { createInputSensor } from "./src/sensor.ts";
import { runServer } from "./src/server.ts";
import { ListenError } from "./src/startup.ts";
import { stopSignal } from "./src/stop_signal.ts";

const OUTPUT_TIMEOUT_MS = 900; // for the log, and again for an error message

/** Does what the command line asks for, and returns the exit code. */
async function run(args: string[]): Promise<number> {
  const command = parseCommand(args);
  if (command.kind === "serve") return await serve(command.config);
  if (command.kind === "print") {
    await print(Deno.stdout, command.text);
    return 0;
  }
  const style = command.journal ? "journal" : "plain";
  await print(Deno.stderr, withPriority(command.text, "ERROR", style));
  return 2;
}

async function serve(config: Config): Promise<number> {
  const hasColor = Deno.stdout.isTerminal() && !Deno.noColor;
  const style = config.journal ? "journal" : hasColor ? "color" : "plain";
  const { logger, flush } = createLogger(
    (bytes) => Deno.stdout.write(bytes),
    config.debug ? "DEBUG" : "INFO",
    style,
  );
  const reading = { json: JSON.stringify(config.message) };
  const sensor = config.stdin
    ? createInputSensor(Deno.stdin, config, logger)
    : () => reading;
  const respond = createHandler(sensor, config.cors);
  const handler = withAccessLog(respond, (line) => logger.info(line));
  const uncaught = uncaughtErrorSignal();
  try {
    const stop = AbortSignal.any([stopSignal(), uncaught]);
    await runServer(config, handler, logger, stop);
    uncaught.throwIfAborted();
    await waitForOutput(flush());
    return 0;
  } catch (error) {
    await waitForOutput(flush());
    const text = error instanceof ListenError
      ? error.message
      : String(config.debug && error instanceof Error ? error.stack : error);
    await print(Deno.stderr, withPriority(text, "ERROR", style));
    return 1;
  }
}

/**
 * Returns a signal that an uncaught error aborts, to shut the service down.
 * Without it, Deno would exit at once and lose the buffered log lines.
 */
function uncaughtErrorSignal(): AbortSignal {
  const controller = new AbortController();
  const abort = (event: Event, error: unknown) => {
    event.preventDefault();
    controller.abort(error);
  };
  addEventListener("error", (event) => abort(event, event.error));
  addEventListener("unhandledrejection", (event) => abort(event, event.reason));
  return controller.signal;
}

async function print(stream: typeof Deno.stdout, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${text}\n`);
  await waitForOutput(stream.write(bytes).catch(() => {}));
}

async function waitForOutput(written: Promise<unknown>): Promise<void> {
  await Promise.race([written, delay(OUTPUT_TIMEOUT_MS)]);
}

// Exit explicitly: a pending read of standard input would keep the program
// running (https://github.com/denoland/deno/issues/14333)
Deno.exit(await run(Deno.args));
