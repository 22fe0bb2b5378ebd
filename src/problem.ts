// Error responses, and the fields that every response carries.

import { STATUS_TEXT } from "@std/http/status";
import type { Logger } from "@std/log/logger";

/** Header fields by name. */
export type Fields = Record<string, string>;

/** Returns the fields that every response carries. */
export function commonFields(cors: boolean): Fields {
  return {
    // Nothing that was said of a sensor may stand in for it later, nor an error
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(cors && { "access-control-allow-origin": "*" }),
  };
}

/** Creates an error response with problem details (RFC 9457, section 3). */
export function createProblem(
  status: 400 | 404 | 405 | 500 | 503,
  detail: string,
  fields: Fields,
): Response {
  const title = STATUS_TEXT[status];
  const body = { type: "about:blank", title, status, detail };
  const headers = { ...fields, "content-type": "application/problem+json" };
  return new Response(JSON.stringify(body), { status, headers });
}

/** Answers for a handler that threw; what it threw is for the logger only. */
export function answerError(
  error: unknown,
  logger: Logger,
  cors: boolean,
): Response {
  logger.error(`The handler failed: ${error}`);
  if (error instanceof Error) logger.debug(error.stack);
  const detail = "The sensor data cannot be had at the moment";
  return createProblem(500, detail, commonFields(cors));
}
