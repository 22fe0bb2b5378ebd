// The process: arguments in, exit code out. It is 0 when the service stops, 1
// when it cannot run, 2 for wrong usage.

import { withAccessLog } from "./src/access_log.ts";
import { type Config, parseCommand } from "./src/config.ts";
import { createConsole } from "./src/console.ts";
import { delay } from "./src/delay.ts";
import { createHandler } from "./src/handler.ts";
import { ListenError } from "./src/report.ts";
import { runServer } from "./src/server.ts";

/** How long the last lines may take to reach the console, in ms. */
const FLUSH_MS = 1000;

async function run(config: Config): Promise<number> {
  const { logger, flush } = createConsole(
    (bytes) => Deno.stdout.write(bytes),
    config.debug ? "DEBUG" : "INFO",
    Deno.stdout.isTerminal() && !Deno.noColor,
  );
  const handler = withAccessLog(
    createHandler(config.message),
    (line) => logger.info(line),
  );
  try {
    await runServer(config, handler, logger, listenForStop());
    return 0;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    print(Deno.stderr, `${error.message}\n`);
    return 1;
  } finally {
    await Promise.race([flush(), delay(FLUSH_MS)]);
  }
}

/** Aborts at the first signal; the second one ends the process at once. */
function listenForStop(): AbortSignal {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const stop = () => {
    for (const signal of signals) Deno.removeSignalListener(signal, stop);
    controller.abort();
  };
  for (const signal of signals) Deno.addSignalListener(signal, stop);
  return controller.signal;
}

function print(stream: typeof Deno.stdout | typeof Deno.stderr, text: string) {
  stream.writeSync(new TextEncoder().encode(text));
}

const command = parseCommand(Deno.args);
if (command.kind === "serve") Deno.exit(await run(command.config));
const [stream, code] = command.kind === "print"
  ? [Deno.stdout, 0]
  : [Deno.stderr, 2];
print(stream, command.text);
Deno.exit(code);
