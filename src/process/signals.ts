import { CLOCK } from "../clock.ts";

const SIGNAL_DEBOUNCE_MS = 500; // deno task repeats the Ctrl+C of the terminal

/**
 * Returns an AbortSignal for SIGINT, SIGTERM and, on a terminal, SIGHUP. After the
 * debounce time, another SIGINT or SIGTERM kills the process: nothing listens any more.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const onSignal = async () => {
    controller.abort();
    await CLOCK.delay(SIGNAL_DEBOUNCE_MS);
    Deno.removeSignalListener("SIGINT", onSignal);
    Deno.removeSignalListener("SIGTERM", onSignal);
  };
  Deno.addSignalListener("SIGINT", onSignal);
  Deno.addSignalListener("SIGTERM", onSignal);
  // A closed terminal sends SIGHUP. Without a terminal, as under nohup, ignore it
  const hasTerminal = [Deno.stdin, Deno.stdout, Deno.stderr]
    .some((stream) => stream.isTerminal());
  Deno.addSignalListener("SIGHUP", hasTerminal ? onSignal : () => {});
  return controller.signal;
}

/** Returns a signal that an uncaught error aborts: Deno alone would lose log lines. */
export function uncaughtErrorSignal(): AbortSignal {
  const controller = new AbortController();
  const abort = (event: Event, error: unknown) => {
    event.preventDefault();
    controller.abort(error);
  };
  addEventListener("error", (event) => abort(event, event.error));
  addEventListener("unhandledrejection", (event) => abort(event, event.reason));
  return controller.signal;
}
