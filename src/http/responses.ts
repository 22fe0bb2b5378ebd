import { STATUS_TEXT } from "@std/http/status";
import type { Reading } from "../sensor/last_reading.ts";
import { memoizeLast } from "./memoize_last.ts";

const METHODS = "GET, HEAD, OPTIONS";
const DATE_LAG_MS = 1000; // how much later than Deno's Date a reading may seem

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
export type Responses = ReturnType<typeof createResponses>;

/** Creates {@linkcode Responses}. With `cors`, pages of other origins may read them. */
export function createResponses(cors: boolean) {
  const common = { ...COMMON, ...cors && CORS };

  const encode = memoizeLast(({ json, time }: Reading) => {
    const type = { "content-type": "application/json" };
    const date = time !== undefined && new Date(time - DATE_LAG_MS);
    const modified = date && { "last-modified": date.toUTCString() };
    const headers = { ...common, ...type, ...modified };
    // Deno would copy a string for each response; clones share these bytes
    return new Response(new TextEncoder().encode(json), { headers });
  });

  return {
    /** Returns the response with a reading; a clone costs less than a new one. */
    reading: (reading: Reading) => encode(reading).clone(),

    /** Returns the response to OPTIONS, including CORS preflights. */
    options() {
      const headers = { ...common, allow: METHODS, ...cors && PREFLIGHT };
      return new Response(null, { status: 204, headers });
    },

    /** Returns an error response with problem details (RFC 9457, section 3). */
    problem(status: 400 | 404 | 405 | 500 | 503, detail: string) {
      const title = STATUS_TEXT[status];
      const body = { type: "about:blank", title, status, detail };
      const type = { "content-type": "application/problem+json" };
      const allow = status === 405 && { allow: METHODS }; // RFC 9110, 15.5.6
      const headers = { ...common, ...type, ...allow };
      return Response.json(body, { status, headers });
    },
  };
}
