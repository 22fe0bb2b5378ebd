// What a client and the log get when a handler fails.

import { assertEquals } from "@std/assert";
import { createErrorHandler, withErrors } from "../../../src/http/errors.ts";
import { createResponses } from "../../../src/http/responses.ts";
import { createTestLogger } from "../../helpers/test_logger.ts";

Deno.test("withErrors() answers 500 without details, and logs the error and its stack", async () => {
  const log: string[] = [];
  const logger = createTestLogger((text, level) =>
    log.push(`${level} ${text}`)
  );
  const onError = createErrorHandler(createResponses(false), logger);
  const error = new TypeError("On fire");
  for (const thrown of [error, "on fire"]) {
    const fail = () => {
      throw thrown;
    };
    const handler = withErrors(fail, onError);
    const request = new Request("http://board");
    const response = handler(request, { client: "", target: "/datasensor" });
    assertEquals(await response.json(), {
      type: "about:blank",
      title: "Internal Server Error",
      status: 500,
      detail: "The sensor data is not available at the moment",
    });
    const type = response.headers.get("content-type");
    assertEquals([response.status, type], [500, "application/problem+json"]);
  }
  const failed = "ERROR The handler failed:";
  const stack = `DEBUG ${error.stack}`;
  assertEquals(log, [`${failed} ${error}`, stack, `${failed} on fire`]);
});
