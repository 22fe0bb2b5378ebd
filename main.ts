// The process: arguments in, exit code out. It is 0 when the service stops, 1
// when it cannot run, 2 for wrong usage.

import { withAccessLog } from "./src/access_log.ts";
import { type Command, parseCommand } from "./src/command_line.ts";
import type { Config } from "./src/config.ts";
import { createConsole } from "./src/console.ts";
import { delay } from "./src/delay.ts";
import { createHandler } from "./src/handler.ts";
import { LineWriter } from "./src/line_writer.ts";
import { ListenError } from "./src/report.ts";
import { createInputSensor } from "./src/sensor.ts";
import { runServer } from "./src/server.ts";
import { listenForStop } from "./src/stop_signal.ts";

/** How long the last lines may take to reach their reader, in ms. */
const FLUSH_MS = 900;

async function run(command: Command): Promise<number> {
  if (command.kind === "serve") return await serve(command.config);
  const isMistake = command.kind === "usage";
  await print(isMistake ? Deno.stderr : Deno.stdout, command.text);
  return isMistake ? 2 : 0;
}

async function serve(config: Config): Promise<number> {
  const { logger, flush } = createConsole(
    (bytes) => Deno.stdout.write(bytes),
    config.debug ? "DEBUG" : "INFO",
    Deno.stdout.isTerminal() && !Deno.noColor,
  );
  const reading = { text: config.message };
  const sensor = config.stdin
    ? createInputSensor(Deno.stdin, config.maxAge, logger)
    : () => reading;
  const resource = createHandler(sensor, config.cors);
  const handler = withAccessLog(resource, (line) => logger.info(line));
  try {
    await runServer(config, handler, logger, listenForStop());
    return 0;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    await print(Deno.stderr, error.message);
    return 1;
  } finally {
    await Promise.race([flush(), delay(FLUSH_MS)]);
  }
}

/** Prints a text; does not wait for ever for somebody to read it. */
async function print(stream: typeof Deno.stdout, text: string): Promise<void> {
  const writer = new LineWriter((bytes) => stream.write(bytes), () => {});
  writer.write(text);
  await Promise.race([writer.flush(), delay(FLUSH_MS)]);
}

/**
 * Ends the program. Deno would do it by itself, but not while standard error is
 * full, nor always while a read is pending (denoland/deno, issue 14333).
 */
async function fail(event: Event, error: unknown): Promise<void> {
  event.preventDefault();
  const text = String(error instanceof Error ? error.stack : error);
  await print(Deno.stderr, text);
  Deno.exit(1);
}

addEventListener("error", (event) => fail(event, event.error));
addEventListener("unhandledrejection", (event) => fail(event, event.reason));

Deno.exit(await run(parseCommand(Deno.args)));
