import { CLOCK } from "../clock.ts";

/** The system, as the server uses it: clocks, network and memory. Tests replace it. */
export const SYSTEM = {
  ...CLOCK,
  serve: Deno.serve,
  listen: Deno.listen,
  networkInterfaces: Deno.networkInterfaces,
  residentBytes: () => Deno.memoryUsage().rss,
};

/** The system, or what replaces it. */
export type System = typeof SYSTEM;
