// Listening, and the reasons why the service cannot.

import { assert, assertEquals, assertThrows } from "@std/assert";
import { listen, ListenError } from "../../../src/server/listener.ts";
import type { System } from "../../../src/system.ts";

const { AddrInUse, AddrNotAvailable, NotCapable, PermissionDenied } =
  Deno.errors;
const NO_IPV6 = Object.assign(new Error("No family"), { code: "EAFNOSUPPORT" });
const EMFILE = Object.assign(new Error("Too many"), { code: "EMFILE" });

/** Why Deno.serve failed, the kind of that, and how its message goes on. */
const CAUSES: [cause: Error, kind: string, message: string][] = [
  [new AddrInUse(), "taken", "another program uses the port\nStop that"],
  [
    new AddrNotAvailable(),
    "impossible",
    "this machine has no such address\nChoose another address",
  ],
  [
    NO_IPV6,
    "impossible",
    "this machine has no such kind of address\nChoose another address",
  ],
  [
    new NotCapable(),
    "impossible",
    "the service is not permitted to use the address\nUnset DENO_SERVE_ADDRESS",
  ],
  [
    new PermissionDenied(),
    "impossible",
    "the system reserves that port for privileged users\nChoose port 1024",
  ],
  [EMFILE, "unknown", "Error: Too many"],
];

const TO = { hostname: "192.0.2.7", port: 80 };
const answer = () => new Response();
const application = { handler: answer, onError: answer };

for (const [cause, kind, message] of CAUSES) {
  Deno.test(`listen() explains ${cause}, and whether it passes`, () => {
    const serve = () => {
      throw cause;
    };
    const act = () => listen(TO, application, { serve } as unknown as System);
    const error = assertThrows(act, ListenError);
    assertEquals(error.kind, kind);
    const place = cause instanceof NotCapable ? "" : ' on "192.0.2.7", port 80';
    const start = `Cannot listen${place}: ${message}`;
    assert(error.message.startsWith(start), error.message);
  });
}
