// When the program stops: signals of a terminal, a session and a supervisor.

import { delay } from "./delay.ts";

/** Within this time, signals are one wish to stop, in ms: a task runner hands
 * on the terminal's Ctrl+C, which the program gets by itself too. */
const ONE_WISH = 500;

/**
 * Returns a signal that is aborted when the program is to stop. A later SIGINT
 * or SIGTERM ends the process at once.
 */
export function listenForStop(): AbortSignal {
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
  // The closing of its terminal stops it; without one, it stays (nohup)
  const onTerminal = [Deno.stdin, Deno.stdout, Deno.stderr]
    .some((stream) => stream.isTerminal());
  if (!windows) Deno.addSignalListener("SIGHUP", onTerminal ? stop : () => {});
  return controller.signal;
}
