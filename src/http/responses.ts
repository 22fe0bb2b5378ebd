import { STATUS_TEXT } from "@std/http/status";
import type { Measurement, Reading } from "../sensor/reading.ts";
import { memoizeLast } from "./memoize_last.ts";
import { formatMetrics, PROMETHEUS_TYPE } from "./prometheus.ts";

const METHODS = "GET, HEAD, OPTIONS";
const DATE_LAG_MS = 1000; // how far Deno's Date may be behind the clock

const COMMON = {
  "cache-control": "no-store", // a cached one could be mistaken for a current one
  "x-content-type-options": "nosniff",
};
const CORS = {
  "access-control-allow-origin": "*",
  // Date minus Last-Modified, which is always exposed, is the age of a reading
  "access-control-expose-headers": "Date",
};
const PREFLIGHT = {
  "access-control-allow-methods": METHODS,
  "access-control-allow-headers": "*",
};

/** What creates all responses. */
export interface Responses {
  /** Returns the response with a reading, as JSON. */
  reading(reading: Reading): Response;
  /** Returns the response with a reading of a sensor, in Prometheus's text format. */
  metrics(reading: Measurement): Response;
  /** Returns the response to OPTIONS, including CORS preflights. */
  options(): Response;
  /** Returns an error response with problem details (RFC 9457, section 3). */
  problem(status: 400 | 404 | 405 | 500 | 503, detail: string): Response;
}

/** Creates {@linkcode Responses}. With `cors`, pages of other origins may read them. */
export function createResponses(cors: boolean): Responses {
  const common = cors ? { ...COMMON, ...CORS } : COMMON;

  const encode = (text: string, type: string, time?: number) => {
    const headers: Record<string, string> = { ...common, "content-type": type };
    if (time !== undefined) {
      // It must not be later than Date (RFC 9110, section 8.8.2.1)
      const modified = new Date(time - DATE_LAG_MS);
      headers["last-modified"] = modified.toUTCString();
      headers.vary = "Accept"; // a fixed text is always JSON
    }
    // Deno would copy a string for each response; clones share these bytes
    return new Response(new TextEncoder().encode(text), { headers });
  };
  const encodeJson = memoizeLast(({ json, time }: Reading) =>
    encode(json, "application/json", time)
  );
  const encodeMetrics = memoizeLast(({ json, time }: Measurement) =>
    encode(formatMetrics(json, time), PROMETHEUS_TYPE, time)
  );

  return {
    reading: (reading) => encodeJson(reading).clone(), // costs less than a new one

    metrics: (reading) => encodeMetrics(reading).clone(),

    options() {
      const preflight = cors ? PREFLIGHT : {};
      const headers = { ...common, allow: METHODS, ...preflight };
      return new Response(null, { status: 204, headers });
    },

    problem(status, detail) {
      const title = STATUS_TEXT[status];
      const body = { type: "about:blank", title, status, detail };
      const headers: Record<string, string> = {
        ...common,
        "content-type": "application/problem+json",
      };
      if (status === 405) headers.allow = METHODS; // RFC 9110, section 15.5.6
      return Response.json(body, { status, headers });
    },
  };
}
