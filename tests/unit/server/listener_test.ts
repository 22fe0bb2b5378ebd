// Listening, and the reasons why the service cannot.

import { assert, assertThrows } from "@std/assert";
import { listen, ListenError } from "../../../src/server/listener.ts";
import type { Runtime } from "../../../src/server/runtime.ts";

const { AddrInUse, AddrNotAvailable, NotCapable, PermissionDenied } =
  Deno.errors;
const PLACE = 'Cannot listen on "192.0.2.7", port 80: ';
const ENV = "\nDENO_SERVE_ADDRESS seems to override --host and --port";

/** Why Deno.serve failed, whether the address is free, and the message. */
const CAUSES: [cause: Error, isFree: boolean, message: string][] = [
  [new AddrInUse(), false, `${PLACE}another program uses the port\nStop that`],
  [new PermissionDenied(), false, `${PLACE}the system reserves that port`],
  [new AddrNotAvailable(), false, `${PLACE}this machine has no such address`],
  [new Error("no name"), false, `${PLACE}Error: no name`],
  [new AddrInUse(), true, `Cannot listen: another program uses the port${ENV}`],
  [new NotCapable(), false, "Cannot listen: the service is not permitted to"],
];

const TO = { hostname: "192.0.2.7", port: 80 };
const HELD = { [Symbol.dispose]() {} };
const handler = () => new Response();

Deno.test("listen() tries again if the address has just become free", () => {
  const server = {};
  let attempts = 0;
  const serve = () => {
    if (++attempts === 1) throw new AddrInUse();
    return server;
  };
  const runtime = { serve, listen: () => HELD } as unknown as Runtime;
  assert(listen(TO, { handler }, runtime).server as unknown === server);
});

for (const [cause, isFree, message] of CAUSES) {
  const address = isFree ? "another" : "its";
  Deno.test(`listen() explains ${cause.name} of ${address} address`, () => {
    const fail = () => {
      throw cause;
    };
    const runtime = { serve: fail, listen: isFree ? () => HELD : fail };
    const act = () => listen(TO, { handler }, runtime as unknown as Runtime);
    assertThrows(act, ListenError, message);
  });
}
