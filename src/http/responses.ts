import { STATUS_TEXT } from "@std/http/status";
import type { Clock } from "../clock.ts";
import type { Reading, Snapshot } from "../sensor/reading.ts";
import { PAGE, PAGE_POLICY } from "../page/page.ts";
import { formatMetrics, METRICS_TYPE } from "./prometheus.ts";
import { formatSensorList } from "./sensor_list.ts";

const METHODS = "GET, HEAD, OPTIONS";

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
const PAGE_FIELDS: Fields = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
};

/** Creates responses. */
export class Responses {
  readonly #common: Fields;

  /** @param cors Whether pages of other origins may read them. */
  constructor(private readonly cors: boolean, private readonly clock: Clock) {
    this.#common = cors ? { ...COMMON, ...CORS } : COMMON;
  }

  /** Returns the response with a reading. */
  readonly reading = this.#reuse((reading: Reading) => {
    const fields: Fields = { "content-type": "application/json" };
    if (reading.time !== undefined) {
      // It must not be later than Date (RFC 9110, section 8.8.2.1)
      const time = Math.min(reading.time, this.clock.wallTime());
      fields["last-modified"] = new Date(time).toUTCString();
    }
    return this.#create(reading.json, 200, fields);
  });

  /** Returns the response with the known sensors in Prometheus's text format. */
  readonly metrics = this.#reuse((snapshot: Snapshot) =>
    this.#create(formatMetrics(snapshot), 200, { "content-type": METRICS_TYPE })
  );

  /** Returns the response with each known sensor in a JSON array. */
  readonly sensors = this.#reuse((snapshot: Snapshot) => {
    const json = formatSensorList(snapshot, this.clock.wallTime());
    return this.#create(json, 200, { "content-type": "application/json" });
  }, 100); // ages have tenths of a second

  /** Returns the response with the history, a CSV text. */
  readonly history = this.#reuse((csv: Uint8Array<ArrayBuffer>) =>
    this.#create(csv, 200, {
      "content-type": "text/csv; charset=utf-8; header=present",
    })
  );

  /** Returns the response with the page with graphs. */
  page(): Response {
    return this.#create(PAGE, 200, PAGE_FIELDS);
  }

  /** Returns the response to OPTIONS, including CORS preflights. */
  options(): Response {
    const preflight = this.cors ? PREFLIGHT : {};
    const headers = this.#createHeaders({ allow: METHODS, ...preflight });
    return new Response(null, { status: 204, headers });
  }

  /** Returns an error response with problem details (RFC 9457, section 3). */
  problem(status: 400 | 404 | 405 | 500 | 503, detail: string): Response {
    const title = STATUS_TEXT[status];
    const body = { type: "about:blank", title, status, detail };
    const fields: Fields = { "content-type": "application/problem+json" };
    if (status === 405) fields.allow = METHODS; // RFC 9110, section 15.5.6
    return this.#create(JSON.stringify(body), status, fields);
  }

  #create(
    content: string | Uint8Array<ArrayBuffer>,
    status: number,
    fields: Fields,
  ): Response {
    const isText = typeof content === "string";
    const body = isText ? new TextEncoder().encode(content) : content;
    const length = `${body.length}`; // for HEAD, too
    const headers = this.#createHeaders({
      ...fields,
      "content-length": length,
    });
    return new Response(body, { status, headers });
  }

  #createHeaders(fields: Fields): Headers {
    // Deno's own Date would lag by up to a second
    const date = new Date(this.clock.wallTime()).toUTCString();
    return new Headers({ ...this.#common, date, ...fields });
  }

  /**
   * Reuses the last response for a second, in which Date is the same, or for a part of it: most
   * responses repeat the previous one, and clones share its bytes.
   */
  #reuse<T>(respond: (input: T) => Response, partMs = 1000) {
    let last: { input: T; part: number; response: Response } | undefined;
    return (input: T): Response => {
      const part = Math.floor(this.clock.wallTime() / partMs);
      if (last?.input !== input || last.part !== part) {
        last = { input, part, response: respond(input) };
      }
      return last.response.clone();
    };
  }
}
