import { CLOCK } from "./clock.ts";
import { stopSignal, uncaughtErrorSignal } from "./process/signals.ts";

const TRIM_SIGNAL = "SIGUSR2";

/** What the system gives: clocks, streams, signals, network and memory. Tests replace it. */
export const SYSTEM = {
  ...CLOCK,
  stdin: Deno.stdin,
  stdout: Deno.stdout,
  stderr: Deno.stderr,
  noColor: Deno.noColor,
  stopSignal,
  uncaughtErrorSignal,
  serve: Deno.serve,
  listen: Deno.listen,
  networkInterfaces: Deno.networkInterfaces,
  residentBytes: () => Deno.memoryUsage().rss,

  /** Keeps the signal of {@linkcode trimMemory} from ending the process. */
  acceptTrims: () => Deno.addSignalListener(TRIM_SIGNAL, () => {}),

  /**
   * Gives free memory back to the system, on the next turn of the event loop. Deno does so at
   * this signal if DENO_USR2_MEMORY_TRIM is set. Only an executable of Deno before 2.9 may not
   * signal itself.
   */
  trimMemory(): void {
    try {
      Deno.kill(Deno.pid, TRIM_SIGNAL);
    } catch {
      // Memory that is not free is noticed anyway
    }
  },
};

/** The system, or what replaces it. */
export type System = typeof SYSTEM;
