// The middleware: measures a handler and turns each request into one line.

import { type Handler, requestTarget } from "./handler.ts";

/** The facts of one handled request; method and target as the client sent them. */
export interface AccessRecord {
  readonly client: string;
  readonly timestamp: string;
  readonly method: string;
  readonly target: string;
  readonly status: number;
}

/**
 * Wraps a handler so that every request is logged, also when the handler
 * throws: as the 500 that the server answers then.
 *
 * @param log Takes each line, without a line end; must not throw.
 * @param timestamp Tells the time of a line.
 */
export function withAccessLog(
  handler: Handler,
  log: (line: string) => void,
  timestamp: () => string = createTimestamp(),
): (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Response {
  return (request, info) => {
    const client = info.remoteAddr.hostname;
    const { method, url } = request;
    let status = 500;
    try {
      const response = handler(request);
      status = response.status;
      return response;
    } finally {
      const target = requestTarget(url);
      const record = { client, timestamp: timestamp(), method, target, status };
      log(formatAccessLine(record));
    }
  };
}

/**
 * Formats a record as one line, without its end. The version is a guess, the
 * likeliest: Deno does not show it to a handler.
 */
export function formatAccessLine(record: AccessRecord): string {
  const { client, timestamp, method, target, status } = record;
  const address = client.replace(/^::ffff:/, ""); // IPv4 on a dual stack
  const request = escape(`${method} ${target} HTTP/1.1`);
  return `${address} - - [${timestamp}] "${request}" ${status} -`;
}

/**
 * Creates a function that tells the local time as `dd/Mon/yyyy HH:MM:SS`. It
 * keeps the text for as long as the second is the same.
 *
 * @param now The clock, in milliseconds since the epoch.
 */
export function createTimestamp(now: () => number = Date.now): () => string {
  let second = NaN;
  let text = "";
  return () => {
    const time = now();
    if (Math.floor(time / 1000) !== second) {
      second = Math.floor(time / 1000);
      // ECMA-262 fixes this form: Fri Nov 20 2026 17:14:56 GMT+0000 (…)
      const [, month, day, year, clock] = new Date(time).toString().split(" ");
      text = `${day}/${month}/${year} ${clock}`;
    }
    return text;
  };
}

/**
 * Escapes what a client sent, so that it can neither end the line or its
 * quotes nor reach the terminal: `\"`, `\\`, and `\xNN` for each byte of UTF-8
 * that is not printable ASCII.
 */
function escape(text: string): string {
  return text.replace(/["\\]/g, "\\$&").replace(/[^ -~]+/g, (characters) => {
    let escaped = "";
    for (const byte of new TextEncoder().encode(characters)) {
      escaped += `\\x${byte.toString(16).padStart(2, "0")}`;
    }
    return escaped;
  });
}
