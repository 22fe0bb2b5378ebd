// What all responses have in common, and the responses that report an error.

import { STATUS_TEXT } from "@std/http/status";

/** Returns the header fields that every response has. */
export function commonHeaders(cors: boolean): Headers {
  const headers = new Headers();
  // A cached response could be mistaken for a current one
  headers.set("cache-control", "no-store");
  headers.set("x-content-type-options", "nosniff");
  if (cors) headers.set("access-control-allow-origin", "*");
  return headers;
}

/** Creates an error response with problem details (RFC 9457, section 3). */
export function problemResponse(
  status: 400 | 404 | 405 | 500 | 503,
  detail: string,
  cors: boolean,
  allow?: string,
): Response {
  const title = STATUS_TEXT[status];
  const headers = commonHeaders(cors);
  headers.set("content-type", "application/problem+json");
  if (allow) headers.set("allow", allow);
  const body = { type: "about:blank", title, status, detail };
  return Response.json(body, { status, headers });
}
