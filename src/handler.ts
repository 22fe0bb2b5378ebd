// The resource: a request in, a response out.

import { STATUS_CODE, STATUS_TEXT } from "@std/http/status";
import { rememberLast } from "./remember_last.ts";

/** Answers one request; what it throws is a bug. */
export type Handler = (request: Request) => Response;

const PATH = "/datasensor";
const METHODS = "GET, HEAD, OPTIONS";

// Answers about a sensor must not stand in for it later, errors included
const COMMON_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/**
 * Creates the handler of the one resource, `/datasensor`.
 *
 * @param message The text it answers with, as one JSON string (RFC 8259,
 * section 7).
 */
export function createHandler(message: string): Handler {
  // Cloned for each request, as that costs less than to build it
  const data = new Response(JSON.stringify(message), {
    headers: { ...COMMON_HEADERS, "content-type": "application/json" },
  });
  const isResource = rememberLast((url) => isPath(requestTarget(url)));

  return (request) => {
    if (!isResource(request.url)) {
      return createProblem(
        STATUS_CODE.NotFound,
        `There is nothing here, the sensor data is at ${PATH}`,
      );
    }
    switch (request.method) {
      case "GET":
      case "HEAD": // Deno.serve leaves the body out
        return data.clone();
      case "OPTIONS":
        return new Response(null, {
          status: STATUS_CODE.NoContent,
          headers: { ...COMMON_HEADERS, allow: METHODS },
        });
      default:
        return createProblem(
          STATUS_CODE.MethodNotAllowed,
          `The sensor data is read-only, use one of ${METHODS}`,
          { allow: METHODS },
        );
    }
  };
}

/**
 * Creates an error response with problem details (RFC 9457, section 3).
 *
 * @param detail What the client can do about it.
 */
export function createProblem(
  status: 404 | 405 | 500,
  detail: string,
  headers: Record<string, string> = {},
): Response {
  const body = {
    type: "about:blank",
    title: STATUS_TEXT[status],
    status,
    detail,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...COMMON_HEADERS,
      ...headers,
      "content-type": "application/problem+json",
    },
  });
}

/**
 * Returns the target (RFC 9112, section 3.2) in a url that Deno.serve made of
 * it: path and query, or the authority for a CONNECT.
 *
 * The url is cut, not parsed: its authority is the client's Host field, which
 * may be anything, and `new URL` would throw or change the path.
 */
export function requestTarget(url: string): string {
  const rest = url.slice(url.indexOf("://") + 3);
  return rest.slice(Math.max(rest.search(/[/?#]/), 0));
}

/** Whether a target's path is the resource's (RFC 3986, section 6.2.2.2). */
function isPath(target: string): boolean {
  const [path = ""] = target.split("?", 1);
  try {
    return decodeURIComponent(path) === PATH;
  } catch {
    return false; // a malformed escape
  }
}
