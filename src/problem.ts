// Error responses, and the fields that every response carries.

import { STATUS_TEXT } from "@std/http/status";

/** Header fields by name. */
export type Fields = Record<string, string>;

/** Returns the fields that every response carries. */
export function commonFields(cors: boolean): Fields {
  return {
    // What is said of a sensor must not stand in for it later, errors included
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(cors && { "access-control-allow-origin": "*" }),
  };
}

/**
 * Creates an error response with problem details (RFC 9457, section 3).
 *
 * @param detail What the client can do about it.
 */
export function createProblem(
  status: 400 | 404 | 405 | 500 | 503,
  detail: string,
  fields: Fields,
): Response {
  const body = {
    type: "about:blank",
    title: STATUS_TEXT[status],
    status,
    detail,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...fields, "content-type": "application/problem+json" },
  });
}
