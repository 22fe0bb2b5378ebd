// The resource: a request in, a response out.

import { RESOURCE_PATH } from "./config.ts";
import { memoizeLast } from "./memoize_last.ts";
import { commonHeaders, problemResponse } from "./responses.ts";
import type { Reading, Sensor } from "./sensor.ts";

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
    return new Response(json, { headers });
  });

  function answerReading(): Response {
    const reading = sensor();
    return "unavailable" in reading
      ? problemResponse(503, reading.unavailable, cors)
      : readingResponse(reading).clone(); // cheaper than creating another one
  }

  return (request, target) => {
    if (target === undefined) {
      return problemResponse(400, "The Host header field is invalid", cors);
    }
    if (!isResource(target)) return problemResponse(404, NOT_FOUND, cors);
    switch (request.method) {
      case "GET":
      case "HEAD": // Deno.serve omits the body
        return answerReading();
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
