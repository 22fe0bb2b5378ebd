// When the program stops: signals of a terminal, a session and a supervisor.

import { delay } from "./delay.ts";

/** Within this time, signals are one wish to stop, in ms: a task runner hands
 * on the terminal's Ctrl+C, which the program gets by itself too. */
const ONE_WISH = 500;

/**
 * Returns a signal that is aborted when the program is to stop. A later SIGINT
 * or SIGTERM ends the process at once.
 *
 * @param onTerminal Whether the program runs on a terminal: it stops when the
 * terminal is closed. Without one, a session's end is nothing to it (nohup).
 */
export function listenForStop(onTerminal: boolean): AbortSignal {
  const controller = new AbortController();
  // Older Denos know no others on Windows
  const windows = Deno.build.os === "windows";
  const signals: Deno.Signal[] = windows ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  const stop = async () => {
    if (controller.signal.aborted) return;
    controller.abort();
    await delay(ONE_WISH);
    for (const signal of signals) Deno.removeSignalListener(signal, stop);
  };
  for (const signal of signals) Deno.addSignalListener(signal, stop);
  if (!windows) Deno.addSignalListener("SIGHUP", onTerminal ? stop : () => {});
  return controller.signal;
}
