// What the responses have in common, and those that report a problem.

import { STATUS_TEXT } from "@std/http/status";

/** Header fields by name. */
export type Fields = Record<string, string>;

/** Returns the header fields of every response. */
export function commonFields(cors: boolean): Fields {
  return {
    // A cached response could be mistaken for a current one
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(cors && { "access-control-allow-origin": "*" }),
  };
}

/** Creates an error response with problem details (RFC 9457, section 3). */
export function problemResponse(
  status: 400 | 404 | 405 | 500 | 503,
  detail: string,
  fields: Fields,
): Response {
  const title = STATUS_TEXT[status];
  const headers = { ...fields, "content-type": "application/problem+json" };
  const body = { type: "about:blank", title, status, detail };
  return Response.json(body, { status, headers });
}
