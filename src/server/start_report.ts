import { READING_PATH } from "../http/resources.ts";
import type { System } from "../system.ts";

/** Returns the lines of the start report, which lists the addresses of the service. */
export function formatStartReport(
  addr: Deno.NetAddr,
  debug: boolean,
  hasPage: boolean,
  system: Pick<System, "networkInterfaces">,
): string[] {
  const { hostname, port } = addr;
  const isAll = hostname === "0.0.0.0" || hostname === "::";
  const hosts = isAll
    ? ["127.0.0.1", ...lanAddresses(hostname, system)]
    : [hostname];
  const lines = [` * Debug mode: ${debug ? "on" : "off"}`];
  if (isAll) lines.push(` * Running on all addresses (${hostname})`);
  else if (isLoopback(hostname)) {
    lines.push(` * Only this machine can connect (${hostname})`);
  }
  const urls = hosts.map((host) =>
    `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  );
  for (const url of urls) lines.push(` * Running on ${url}${READING_PATH}`);
  // The first address that other machines reach
  if (hasPage) lines.push(` * Page with graphs: ${urls[1] ?? urls[0]}/`);
  return lines;
}

function isLoopback(address: string): boolean {
  return /^(127\.|::1$)/.test(address);
}

/** Lists the addresses at which other machines reach this one. */
function lanAddresses(
  hostname: string,
  { networkInterfaces }: Pick<System, "networkInterfaces">,
): string[] {
  try {
    return networkInterfaces()
      .filter(({ address, family, scopeid }) =>
        !isLoopback(address) &&
        // A link-local address (its scope is not 0) works only with its zone
        (family === "IPv4" || (hostname === "::" && scopeid === 0))
      )
      .map(({ address }) => address);
  } catch {
    return []; // a sandbox may hide them
  }
}
