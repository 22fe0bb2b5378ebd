// What the operator reads at the start.

import { assertEquals } from "@std/assert";
import { formatStartReport, ListenError } from "../../src/startup.ts";

const CAUSES: [cause: Error, reason: string, advice: string][] = [
  [
    new Deno.errors.AddrInUse(),
    "another program uses the port",
    "Stop that program, or choose another port with --port",
  ],
  [
    new Deno.errors.PermissionDenied(),
    "the system reserves that port for privileged users",
    "Choose a port from 1024 on with --port",
  ],
  [
    new Deno.errors.AddrNotAvailable(),
    "this machine has no such address",
    "Choose another address with --host, or leave it out",
  ],
  [
    new Error("failed to lookup address information"),
    "Error: failed to lookup address information",
    "Choose another address with --host, or leave it out",
  ],
];

for (const [cause, reason, advice] of CAUSES) {
  Deno.test(`ListenError explains ${cause.name}: ${reason}`, () => {
    assertEquals(
      new ListenError(cause, "192.0.2.7", 80).message,
      `Cannot listen on "192.0.2.7", port 80: ${reason}\n${advice}`,
    );
  });
}

Deno.test("formatStartReport() lists the only address", () => {
  const address = { transport: "tcp", hostname: "::1", port: 5001 } as const;
  assertEquals(formatStartReport(address, false), [
    " * Debug mode: off",
    " * Running on http://[::1]:5001/datasensor",
    "Press CTRL+C to quit",
  ]);
});

/** Runs with other network interfaces: name, family, address, scope. */
function reportWith(
  interfaces: [string, "IPv4" | "IPv6", string, number][],
  hostname: string,
): string[] {
  const original = Deno.networkInterfaces;
  Deno.networkInterfaces = () =>
    interfaces.map(([name, family, address, scopeid]) => (
      { name, family, address, scopeid } as Deno.NetworkInterfaceInfo
    ));
  try {
    const address = { transport: "tcp", hostname, port: 5000 } as const;
    return formatStartReport(address, true);
  } finally {
    Deno.networkInterfaces = original;
  }
}

const INTERFACES: Parameters<typeof reportWith>[0] = [
  ["lo", "IPv4", "127.0.0.1", 0],
  ["eth0", "IPv4", "192.0.2.7", 0],
  ["lo", "IPv6", "::1", 0],
  ["lo0", "IPv4", "127.0.0.2", 0], // as macOS names it
  ["eth0", "IPv6", "2001:db8::7", 0],
  ["eth0", "IPv6", "fe80::7", 2],
];

Deno.test("formatStartReport() lists the IPv4 addresses of this machine", () => {
  assertEquals(reportWith(INTERFACES, "0.0.0.0"), [
    " * Debug mode: on",
    " * Running on all addresses (0.0.0.0)",
    " * Running on http://127.0.0.1:5000/datasensor",
    " * Running on http://192.0.2.7:5000/datasensor",
    "Press CTRL+C to quit",
  ]);
});

Deno.test("formatStartReport() lists IPv6 addresses that are not link-local", () => {
  assertEquals(reportWith(INTERFACES, "::").slice(1, -1), [
    " * Running on all addresses (::)",
    " * Running on http://127.0.0.1:5000/datasensor",
    " * Running on http://192.0.2.7:5000/datasensor",
    " * Running on http://[2001:db8::7]:5000/datasensor",
  ]);
});

Deno.test("formatStartReport() lists the loopback address alone if the others are hidden", () => {
  const original = Deno.networkInterfaces;
  Deno.networkInterfaces = () => {
    throw new Deno.errors.NotCapable("Address family not supported");
  };
  try {
    const address = { transport: "tcp", hostname: "::", port: 5000 } as const;
    assertEquals(formatStartReport(address, true).slice(1, -1), [
      " * Running on all addresses (::)",
      " * Running on http://127.0.0.1:5000/datasensor",
    ]);
  } finally {
    Deno.networkInterfaces = original;
  }
});
