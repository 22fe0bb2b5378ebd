// The reasons why the service cannot listen.

import { assertEquals } from "@std/assert";
import { ListenError } from "../../../src/server/listener.ts";

const CAUSES: [cause: Error, reason: string, advice?: string][] = [
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
    "Choose another address with --host, or omit it",
  ],
  [new Error("failed to look up"), "Error: failed to look up"],
];

for (const [cause, reason, advice] of CAUSES) {
  Deno.test(`ListenError explains ${cause.name}`, () => {
    assertEquals(
      new ListenError(cause, "192.0.2.7", 80).message,
      `Cannot listen on "192.0.2.7", port 80: ${reason}${
        advice ? `\n${advice}` : ""
      }`,
    );
  });
}
