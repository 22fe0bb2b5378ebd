// The resource: a request in, a response out.

import { PATH } from "./config.ts";
import { commonFields, createProblem, type Fields } from "./problem.ts";
import { rememberTarget, type RequestTarget } from "./request_target.ts";
import type { Reading, Sensor } from "./sensor.ts";

/** Answers one request; what it throws is a bug. */
export type Handler = (request: Request) => Response;

const METHODS = "GET, HEAD, OPTIONS";
const READ_ONLY = `The sensor data is read-only, use one of ${METHODS}`;

/** Creates the handler of the one resource, `/datasensor`. */
export function createHandler(sensor: Sensor, cors: boolean): Handler {
  const fields = commonFields(cors);
  const refusal = rememberTarget(refuse);
  let current: Reading | undefined;
  let data: Response; // cloned for each request, as that costs less

  function answerData(): Response {
    const reading = sensor();
    if (typeof reading === "string") return createProblem(503, reading, fields);
    if (reading !== current) {
      data = createData(reading, fields);
      current = reading;
    }
    return data.clone();
  }

  return (request) => {
    const refused = refusal(request);
    if (refused) return createProblem(...refused, fields);
    switch (request.method) {
      case "GET":
      case "HEAD": // Deno.serve leaves the body out
        return answerData();
      case "OPTIONS":
        return createOptions(fields, cors);
      default:
        return createProblem(405, READ_ONLY, { ...fields, allow: METHODS });
    }
  };
}

/** Says why a target is not the resource's, if it is not. */
function refuse(
  { text, hasValidHost }: RequestTarget,
): [status: 400 | 404, detail: string] | undefined {
  if (!hasValidHost) return [400, "The Host field is not a host and a port"];
  if (!isPath(text)) {
    return [404, `There is nothing here, the sensor data is at ${PATH}`];
  }
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

/** Creates the response to GET: one JSON string (RFC 8259, section 7). */
function createData({ text, time }: Reading, fields: Fields): Response {
  const headers: Fields = { ...fields, "content-type": "application/json" };
  if (time !== undefined) {
    headers["last-modified"] = new Date(time).toUTCString();
  }
  return new Response(JSON.stringify(text), { headers });
}

/** Creates the response to OPTIONS, a CORS preflight if that is allowed. */
function createOptions(fields: Fields, cors: boolean): Response {
  const preflight = {
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": "*",
  };
  const headers = { ...fields, allow: METHODS, ...(cors && preflight) };
  return new Response(null, { status: 204, headers });
}
