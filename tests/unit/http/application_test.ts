// What Deno.serve gets.

import { assertEquals } from "@std/assert";
import { withoutHeadBody } from "../../../src/http/application.ts";
import { CLIENT } from "../../helpers/network.ts";

Deno.test("withoutHeadBody() omits the body for HEAD only, but not its length", async () => {
  const allow = "GET, HEAD, OPTIONS";
  const sent = new Response("21.5", { status: 404, headers: { allow } });
  const handler = withoutHeadBody(() => sent.clone());
  for (const [method, body, length] of [["HEAD", "", "4"], ["GET", "21.5"]]) {
    const request = new Request("http://board", { method });
    const response = await handler(request, CLIENT);
    assertEquals([response.status, await response.text()], [404, body]);
    assertEquals(response.headers.get("allow"), allow);
    assertEquals(response.headers.get("content-length") ?? undefined, length);
  }
});
