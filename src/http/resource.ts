import { RESOURCE_PATH } from "../config.ts";
import type { Sensor } from "../sensor/reading.ts";
import type { Handler } from "./handler.ts";
import { isScrape } from "./prometheus.ts";
import type { ResponsesTo } from "./responses.ts";

const BAD_HOST = "The host of the request is invalid";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";

/** Creates the handler of the only resource, `/datasensor`. */
export function createResource(
  sensor: Sensor,
  responsesTo: ResponsesTo,
): Handler {
  return (request, { target }) => {
    const { method } = request;
    const responses = responsesTo(method);
    if (target === undefined) return responses.problem(400, BAD_HOST);
    if (!isResource(target)) return responses.problem(404, NOT_FOUND);
    if (method === "OPTIONS") return responses.options();
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead) return responses.problem(405, READ_ONLY);
    const reading = sensor();
    if ("unavailable" in reading) {
      return responses.problem(503, reading.unavailable);
    }
    // A fixed text is JSON for all. This comes first: reading Accept creates the headers
    return "time" in reading && isScrape(request)
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
