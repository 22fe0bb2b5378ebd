// The start report, and the reasons why the program cannot listen.

import { assertEquals } from "@std/assert";
import { formatStartReport, ListenError } from "../../src/startup.ts";

const OTHER_HOST = "Choose another address with --host, or omit it";

const CAUSES: [cause: Error, reason: string, advice: string][] = [
  [
    new Deno.errors.AddrInUse(),
    "another program uses the port",
    "Stop that program, or choose another port with --port",
  ],
  [
    new Deno.errors.PermissionDenied(),
    "the system reserves that port for privileged users",
    "Choose port 1024 or higher with --port",
  ],
  [
    new Deno.errors.AddrNotAvailable(),
    "this machine has no such address",
    OTHER_HOST,
  ],
  [new Error("failed to look up"), "Error: failed to look up", OTHER_HOST],
];

for (const [cause, reason, advice] of CAUSES) {
  Deno.test(`ListenError explains ${cause.name}`, () => {
    assertEquals(
      new ListenError(cause, "192.0.2.7", 80).message,
      `Cannot listen on "192.0.2.7", port 80: ${reason}\n${advice}`,
    );
  });
}

const INTERFACES = [
  ["IPv4", "127.0.0.1", 0],
  ["IPv4", "192.0.2.7", 0],
  ["IPv6", "::1", 0],
  ["IPv4", "127.0.0.2", 0],
  ["IPv6", "2001:db8::7", 0],
  ["IPv6", "fe80::7", 2], // link-local
].map(([family, address, scopeid]) => (
  { family, address, scopeid } as Deno.NetworkInterfaceInfo
));

/** Returns the start report for an address, with fake network interfaces. */
function reportOn(
  hostname: string,
  debug = true,
  networkInterfaces = () => INTERFACES,
): string[] {
  const original = Deno.networkInterfaces;
  Deno.networkInterfaces = networkInterfaces;
  try {
    return formatStartReport({ transport: "tcp", hostname, port: 5001 }, debug);
  } finally {
    Deno.networkInterfaces = original;
  }
}

Deno.test("formatStartReport() lists a single address", () => {
  assertEquals(reportOn("::1", false), [
    " * Debug mode: off",
    " * Running on http://[::1]:5001/datasensor",
    "Press CTRL+C to quit",
  ]);
});

Deno.test("formatStartReport() lists the IPv4 addresses of this machine", () => {
  assertEquals(reportOn("0.0.0.0"), [
    " * Debug mode: on",
    " * Running on all addresses (0.0.0.0)",
    " * Running on http://127.0.0.1:5001/datasensor",
    " * Running on http://192.0.2.7:5001/datasensor",
    "Press CTRL+C to quit",
  ]);
});

Deno.test("formatStartReport() lists IPv6 addresses that are not link-local", () => {
  assertEquals(reportOn("::").slice(1, -1), [
    " * Running on all addresses (::)",
    " * Running on http://127.0.0.1:5001/datasensor",
    " * Running on http://192.0.2.7:5001/datasensor",
    " * Running on http://[2001:db8::7]:5001/datasensor",
  ]);
});

Deno.test("formatStartReport() lists only loopback if the interfaces are hidden", () => {
  const hidden = () => {
    throw new Deno.errors.NotCapable("Address family not supported");
  };
  assertEquals(reportOn("::", true, hidden).slice(1, -1), [
    " * Running on all addresses (::)",
    " * Running on http://127.0.0.1:5001/datasensor",
  ]);
});
