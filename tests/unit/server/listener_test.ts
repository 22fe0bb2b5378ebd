// The reasons why the service cannot listen.

import { assertMatch } from "@std/assert";
import { ListenError } from "../../../src/server/listener.ts";

const CAUSES: [cause: Error, explanation: RegExp][] = [
  [new Deno.errors.AddrInUse(), /: another program .*\nStop that program/],
  [new Deno.errors.PermissionDenied(), /: the system reserves .*\nChoose port/],
  [new Deno.errors.AddrNotAvailable(), /no such address\nChoose another/],
  [new Error("failed to look up"), /: Error: failed to look up$/],
];

for (const [cause, explanation] of CAUSES) {
  Deno.test(`ListenError explains ${cause.name}`, () => {
    const { message } = new ListenError(cause, "192.0.2.7", 80);
    assertMatch(message, explanation);
  });
}
