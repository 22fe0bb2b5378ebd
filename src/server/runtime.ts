import { delay } from "../delay.ts";

/** The parts of the runtime that tests of the server replace. */
export const RUNTIME = {
  serve: Deno.serve,
  listen: Deno.listen,
  networkInterfaces: Deno.networkInterfaces,
  delay,
  now: () => performance.now(),
  residentBytes: () => Deno.memoryUsage().rss,
};

/** The runtime, or what replaces it. */
export type Runtime = typeof RUNTIME;
