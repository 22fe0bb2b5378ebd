import { STATUS_TEXT } from "@std/http/status";
import type { Measurement, Reading } from "../sensor/reading.ts";
import { memoizeLast } from "./memoize_last.ts";
import { formatMetrics, PROMETHEUS_TYPE } from "./prometheus.ts";

const METHODS = "GET, HEAD, OPTIONS";
const DATE_LAG_MS = 1000; // how far Deno's Date may be behind the clock

type Fields = Record<string, string>;

const COMMON: Fields = {
  "cache-control": "no-store", // a cached one could be mistaken for a current one
  "x-content-type-options": "nosniff",
};
const CORS: Fields = {
  "access-control-allow-origin": "*",
  // Date minus Last-Modified, which browsers always expose, is the age of a reading
  "access-control-expose-headers": "Date",
};
const PREFLIGHT: Fields = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": "*",
};

/** Returns what creates the responses to a method. */
export type ResponsesTo = (
  method: string,
) => ReturnType<typeof createResponses>;

/**
 * Creates responses with bodies, and those to HEAD without. With `cors`, pages of other
 * origins may read them.
 */
export function createResponsesTo(cors: boolean): ResponsesTo {
  const toHead = createResponses(true, cors);
  const toOthers = createResponses(false, cors);
  return (method) => method === "HEAD" ? toHead : toOthers;
}

function createResponses(isHead: boolean, cors: boolean) {
  const common = cors ? { ...COMMON, ...CORS } : COMMON;

  const create = (text: string, status: number, fields: Fields) => {
    const body = new TextEncoder().encode(text);
    const headers = new Headers({ ...common, ...fields });
    if (!isHead) return new Response(body, { status, headers });
    headers.set("content-length", `${body.length}`);
    return new Response(null, { status, headers }); // over HTTP/2, Deno would send the body
  };
  const createOk = (reading: Reading, type: string, text: string) =>
    create(text, 200, { "content-type": type, ...fieldsOf(reading) });
  // Most responses repeat the previous one. Clones share its bytes; a new response would
  // encode the text again
  const json = memoizeLast((reading: Reading) =>
    createOk(reading, "application/json", reading.json)
  );
  const metrics = memoizeLast((reading: Measurement) =>
    createOk(reading, PROMETHEUS_TYPE, formatMetrics(reading))
  );

  return {
    /** Returns the response with a reading, as JSON. */
    reading: (reading: Reading) => json(reading).clone(),

    /** Returns the response with a reading of a sensor, in Prometheus's text format. */
    metrics: (reading: Measurement) => metrics(reading).clone(),

    /** Returns the response to OPTIONS, including CORS preflights. */
    options() {
      const preflight = cors ? PREFLIGHT : {};
      const headers = { ...common, allow: METHODS, ...preflight };
      return new Response(null, { status: 204, headers });
    },

    /** Returns an error response with problem details (RFC 9457, section 3). */
    problem(status: 400 | 404 | 405 | 500 | 503, detail: string) {
      const title = STATUS_TEXT[status];
      const body = { type: "about:blank", title, status, detail };
      const fields: Fields = { "content-type": "application/problem+json" };
      if (status === 405) fields.allow = METHODS; // RFC 9110, section 15.5.6
      return create(JSON.stringify(body), status, fields);
    },
  };
}

/** Returns the fields that a reading of a sensor has, but not a fixed text. */
function fieldsOf(reading: Reading): Fields {
  if (!("time" in reading)) return {};
  // It must not be later than Date (RFC 9110, section 8.8.2.1)
  const modified = new Date(reading.time - DATE_LAG_MS);
  return { "last-modified": modified.toUTCString(), vary: "Accept" };
}
