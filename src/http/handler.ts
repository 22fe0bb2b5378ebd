// The resource: a request in, a response out.

import { STATUS_TEXT } from "@std/http/status";
import { RESOURCE_PATH } from "../config.ts";
import { memoizeLast } from "./memoize_last.ts";
import type { Reading, Sensor } from "../sensor/sensor.ts";

/** Answers a request. The target is undefined if the Host field is invalid. */
export type Handler = (request: Request, target?: string) => Response;

const METHODS = "GET, HEAD, OPTIONS";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";

/** Creates the handler of the only resource, `/datasensor`. */
export function createHandler(sensor: Sensor, cors: boolean): Handler {
  const readingResponse = memoizeLast(({ json, time }: Reading) => {
    const headers = commonHeaders(cors);
    headers.set("content-type", "application/json");
    if (time) headers.set("last-modified", time.toUTCString());
    // Deno would copy a string for each response; clones share these bytes
    return new Response(new TextEncoder().encode(json), { headers });
  });

  return (request, target) => {
    if (target === undefined) {
      return problemResponse(400, "The Host header field is invalid", cors);
    }
    if (!isResource(target)) return problemResponse(404, NOT_FOUND, cors);
    switch (request.method) {
      case "GET":
      case "HEAD": { // Deno.serve omits the body
        const reading = sensor();
        return typeof reading === "string"
          ? problemResponse(503, reading, cors)
          : readingResponse(reading).clone(); // cheaper than creating another one
      }
      case "OPTIONS":
        return optionsResponse(cors);
      default:
        return problemResponse(405, READ_ONLY, cors, METHODS);
    }
  };
}

/** Whether a target is the resource's path (RFC 3986, section 6.2.2.2). */
function isResource(target: string): boolean {
  if (target === RESOURCE_PATH) return true;
  try {
    return decodeURIComponent(target.split("?", 1)[0]!) === RESOURCE_PATH;
  } catch {
    return false; // a malformed escape
  }
}

/** Creates the response to OPTIONS, including CORS preflights. */
function optionsResponse(cors: boolean): Response {
  const headers = commonHeaders(cors);
  headers.set("allow", METHODS);
  if (cors) {
    headers.set("access-control-allow-methods", METHODS);
    headers.set("access-control-allow-headers", "*");
  }
  return new Response(null, { status: 204, headers });
}

/** Returns the header fields that every response has. */
function commonHeaders(cors: boolean): Headers {
  const headers = new Headers();
  // A cached response could be mistaken for a current one
  headers.set("cache-control", "no-store");
  headers.set("x-content-type-options", "nosniff");
  if (cors) {
    headers.set("access-control-allow-origin", "*");
    // Pages compute a reading's age: Date minus Last-Modified, which needs no mention
    headers.set("access-control-expose-headers", "Date");
  }
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
