// Error responses, and the header fields that every response has.

import { STATUS_TEXT } from "@std/http/status";

/** Header fields by name. */
export type Fields = Record<string, string>;

/** Returns the header fields that every response has. */
export function commonFields(cors: boolean): Fields {
  return {
    // A cached response could be mistaken for a current one
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
