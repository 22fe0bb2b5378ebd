// What the operator is told at the start.

import { type Config, PATH } from "./config.ts";

const OTHER_HOST =
  "Choose an address with --host that --help names, or leave it out";

/** Why Deno.serve throws, and what to do about it, by the error's name. */
const REASONS: Record<string, [reason: string, advice: string]> = {
  AddrInUse: [
    "another program uses the port",
    "Stop that program, or choose another port with --port",
  ],
  PermissionDenied: [
    "the system keeps that port for privileged users",
    "Choose a port from 1024 on with --port",
  ],
  AddrNotAvailable: ["this machine has no such address", OTHER_HOST],
  NotCapable: ["this program has no permission for that address", OTHER_HOST],
};

/** The service cannot listen; the message says why and what to do about it. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  /** Explains what Deno.serve threw. */
  constructor(cause: unknown, { hostname, port }: Config) {
    const name = cause instanceof Error ? cause.name : "";
    const [reason, advice] = REASONS[name] ?? [String(cause), OTHER_HOST];
    super(`Cannot listen on "${hostname}", port ${port}: ${reason}\n${advice}`);
  }
}

/** Formats the start report of a server that listens there, in lines. */
export function formatStartReport(
  { hostname, port }: Deno.NetAddr,
  debug: boolean,
): string[] {
  const all = hostname === "0.0.0.0" || hostname === "::";
  const hosts = all ? ["127.0.0.1", ...lanAddresses(hostname)] : [hostname];
  return [
    ` * Debug mode: ${debug ? "on" : "off"}`,
    ...(all ? [` * Running on all addresses (${hostname})`] : []),
    ...hosts.map((host) => {
      const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      return ` * Running on http://${authority}${PATH}`;
    }),
    "Press CTRL+C to quit",
  ];
}

/** Lists the addresses under which other machines reach this one. */
function lanAddresses(hostname: string): string[] {
  try {
    return Deno.networkInterfaces()
      .filter(({ address }) => !/^(127\.|::1$)/.test(address))
      // A link-local address (its scope is not 0) works only with its zone
      .filter(({ family, scopeid }) =>
        family === "IPv4" || (hostname === "::" && scopeid === 0)
      )
      .map(({ address }) => address);
  } catch {
    return []; // a sandbox may keep them from this program
  }
}
