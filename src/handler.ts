// The resource: a request in, a response out.

import { RESOURCE_PATH } from "./config.ts";
import { commonFields, type Fields, problemResponse } from "./responses.ts";
import type { Reading, Sensor } from "./sensor.ts";

/** Answers a request to a target, which is undefined if its Host is invalid. */
export type Handler = (request: Request, target?: string) => Response;

const METHODS = "GET, HEAD, OPTIONS";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";

/** Creates the handler of the only resource, `/datasensor`. */
export function createHandler(sensor: Sensor, cors: boolean): Handler {
  const fields = commonFields(cors);
  let current: Reading | undefined;
  let data: Response; // cloning it is cheaper than creating one per request

  function answerData(): Response {
    const reading = sensor();
    if ("unavailable" in reading) {
      return problemResponse(503, reading.unavailable, fields);
    }
    if (reading !== current) {
      data = readingResponse(reading, fields);
      current = reading;
    }
    return data.clone();
  }

  return (request, target) => {
    if (target === undefined) {
      return problemResponse(400, "The Host header field is invalid", fields);
    }
    if (!isResource(target)) return problemResponse(404, NOT_FOUND, fields);
    switch (request.method) {
      case "GET":
      case "HEAD": // Deno.serve omits the body
        return answerData();
      case "OPTIONS":
        return optionsResponse(fields, cors);
      default:
        return problemResponse(405, READ_ONLY, { ...fields, allow: METHODS });
    }
  };
}

/** Whether a target is the resource's path (RFC 3986, section 6.2.2.2). */
function isResource(target: string): boolean {
  if (target === RESOURCE_PATH) return true;
  const [path = ""] = target.split("?", 1);
  try {
    return decodeURIComponent(path) === RESOURCE_PATH;
  } catch {
    return false; // a malformed escape
  }
}

/** Creates the response to GET. */
function readingResponse({ json, time }: Reading, fields: Fields): Response {
  const headers: Fields = { ...fields, "content-type": "application/json" };
  if (time !== undefined) {
    headers["last-modified"] = new Date(time).toUTCString();
  }
  return new Response(json, { headers });
}

/** Creates the response to OPTIONS, including CORS preflights. */
function optionsResponse(fields: Fields, cors: boolean): Response {
  const preflight = {
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": "*",
  };
  const headers = { ...fields, allow: METHODS, ...(cors && preflight) };
  return new Response(null, { status: 204, headers });
}
