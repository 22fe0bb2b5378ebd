import { delay } from "../delay.ts";

/** The system, as the server uses it: network, clocks and memory. Tests replace it. */
export const SYSTEM = {
  serve: Deno.serve,
  listen: Deno.listen,
  networkInterfaces: Deno.networkInterfaces,
  delay,
  now: () => performance.now(),
  residentBytes: () => Deno.memoryUsage().rss,
};

/** The system, or what replaces it. */
export type System = typeof SYSTEM;
