// The start report.

import { assertEquals } from "@std/assert";
import { formatStartReport } from "../../../src/server/start_report.ts";

const networkInterfaces = () =>
  [
    ["IPv4", "127.0.0.1", 0],
    ["IPv4", "192.0.2.7", 0],
    ["IPv6", "::1", 0],
    ["IPv4", "127.0.0.2", 0],
    ["IPv6", "2001:db8::7", 0],
    ["IPv6", "fe80::7", 2], // link-local
  ].map(([family, address, scopeid]) => (
    { family, address, scopeid } as Deno.NetworkInterfaceInfo
  ));

const hideInterfaces = () => {
  throw new Deno.errors.NotCapable("Address family not supported");
};

const all = (host: string) => ` * Running on all addresses (${host})`;
const on = (host: string) => ` * Running on http://${host}:5001/datasensor`;
const ONLY_HERE = " * Only this machine can connect (::1)";
const LOCAL = on("127.0.0.1");
const IPV4 = [LOCAL, on("192.0.2.7")];
const IPV6 = [...IPV4, on("[2001:db8::7]")];

const REPORTS: [what: string, string, string[], typeof networkInterfaces?][] = [
  ["the loopback address, and who can connect", "::1", [
    ONLY_HERE,
    on("[::1]"),
  ]],
  ["any other address", "192.0.2.9", [on("192.0.2.9")]],
  ["the IPv4 addresses of this machine", "0.0.0.0", [all("0.0.0.0"), ...IPV4]],
  ["IPv6 addresses that are not link-local", "::", [all("::"), ...IPV6]],
  ["only loopback in a sandbox", "::", [all("::"), LOCAL], hideInterfaces],
];

for (const [what, hostname, lines, list = networkInterfaces] of REPORTS) {
  Deno.test(`formatStartReport() lists ${what}`, () => {
    const address = { transport: "tcp", hostname, port: 5001 } as const;
    const system = { networkInterfaces: list };
    const report = (debug: boolean) =>
      formatStartReport(address, debug, false, system);
    assertEquals(report(true), [" * Debug mode: on", ...lines]);
    assertEquals(report(false), [" * Debug mode: off", ...lines]);
  });
}

/** Where the service listens, and the host of the page that it names. */
const PAGES = { "::": "192.0.2.7", "::1": "[::1]" };

for (const [hostname, host] of Object.entries(PAGES)) {
  Deno.test(`formatStartReport() names the page at ${host} with ${hostname}`, () => {
    const address = { transport: "tcp", hostname, port: 5001 } as const;
    const system = { networkInterfaces };
    const report = formatStartReport(address, true, true, system);
    assertEquals(report.at(-1), ` * Page with graphs: http://${host}:5001/`);
  });
}
