import { RESOURCE_PATH } from "../config.ts";
import type { Sensor } from "../sensor/reading.ts";
import type { Handler } from "./handler.ts";
import { isScrape } from "./prometheus.ts";
import type { Responses } from "./responses.ts";

const BAD_HOST = "The host of the request is invalid";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";

/** Creates the handler of the only resource, `/datasensor`. */
export function createResource(sensor: Sensor, responses: Responses): Handler {
  return (request, { target }) => {
    if (target === undefined) return responses.problem(400, BAD_HOST);
    if (!isResource(target)) return responses.problem(404, NOT_FOUND);
    const { method } = request;
    if (method === "OPTIONS") return responses.options();
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead) return responses.problem(405, READ_ONLY);
    const reading = sensor();
    if ("unavailable" in reading) {
      return responses.problem(503, reading.unavailable);
    }
    // A fixed text has no time, and is JSON for all: to show the Accept field takes Deno 1 µs
    return reading.time !== undefined && isScrape(request)
      ? responses.metrics(reading)
      : responses.reading(reading);
  };
}

/**
 * Whether a target is the resource's path, once its escapes are decoded: `/%64atasensor`
 * is the same resource (RFC 3986, section 6.2.2.2).
 */
function isResource(target: string): boolean {
  if (target === RESOURCE_PATH) return true;
  try {
    return decodeURIComponent(target.split("?", 1)[0]!) === RESOURCE_PATH;
  } catch {
    return false; // a malformed escape
  }
}
