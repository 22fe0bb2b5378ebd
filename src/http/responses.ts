// The responses, and the middleware that answers the errors of a handler.

import { STATUS_TEXT } from "@std/http/status";
import type { Logger } from "@std/log/logger";
import type { Reading } from "../sensor/sensor.ts";
import type { Handler } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";

const METHODS = "GET, HEAD, OPTIONS";
const FAILURE = "The sensor data is not available at the moment";

/** Creates responses. */
export class Responses {
  readonly #reading = memoizeLast(({ json, time }: Reading) => {
    const headers = this.#headers({ "content-type": "application/json" });
    if (time) headers.set("last-modified", time.toUTCString());
    // Deno would copy a string for each response; clones share these bytes
    return new Response(new TextEncoder().encode(json), { headers });
  });

  /** @param cors Whether web pages of other origins may read the responses. */
  constructor(private readonly cors: boolean) {}

  /** Returns the response with a reading. */
  reading(reading: Reading): Response {
    return this.#reading(reading).clone(); // cheaper than creating another one
  }

  /** Returns the response to OPTIONS, including CORS preflights. */
  options(): Response {
    const headers = this.#headers({ allow: METHODS });
    if (this.cors) {
      headers.set("access-control-allow-methods", METHODS);
      headers.set("access-control-allow-headers", "*");
    }
    return new Response(null, { status: 204, headers });
  }

  /** Returns an error response with problem details (RFC 9457, section 3). */
  problem(status: 400 | 404 | 405 | 500 | 503, detail: string): Response {
    const headers = this.#headers({
      "content-type": "application/problem+json",
    });
    if (status === 405) headers.set("allow", METHODS); // RFC 9110, section 15.5.6
    const title = STATUS_TEXT[status];
    const body = { type: "about:blank", title, status, detail };
    return Response.json(body, { status, headers });
  }

  /** Adds the fields that every response has. */
  #headers(fields: Record<string, string>): Headers {
    const headers = new Headers(fields);
    // A cached response could be mistaken for a current one
    headers.set("cache-control", "no-store");
    headers.set("x-content-type-options", "nosniff");
    if (this.cors) {
      headers.set("access-control-allow-origin", "*");
      // Pages compute a reading's age: Date minus Last-Modified, which is always exposed
      headers.set("access-control-expose-headers", "Date");
    }
    return headers;
  }
}

/** Wraps a handler so that its errors are answered with 500. Only the log shows them. */
export function withErrors(
  handler: Handler,
  responses: Responses,
  logger: Logger,
): Handler {
  return (request, info) => {
    try {
      return handler(request, info);
    } catch (error) {
      logger.error(`The handler failed: ${error}`);
      if (error instanceof Error) logger.debug(error.stack);
      return responses.problem(500, FAILURE);
    }
  };
}
