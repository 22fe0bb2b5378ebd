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

  /** Makes Deno return free memory on its next turn, if DENO_USR2_MEMORY_TRIM is set. */
  trimMemory: () => Deno.kill(Deno.pid, TRIM_SIGNAL),
};

/** The system, or what replaces it. */
export type System = typeof SYSTEM;
