// The middleware: measures a handler and turns each request into one line.

import { type Handler, requestTarget } from "./handler.ts";
import { rememberLast } from "./remember_last.ts";

/** The facts of one handled request; method and url as Deno.serve tells them. */
export interface AccessRecord {
  readonly client: string;
  readonly timestamp: string;
  readonly method: string;
  readonly url: string;
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
  const formatAccessLine = createAccessLineFormat();
  return (request, info) => {
    const client = info.remoteAddr.hostname;
    const { method, url } = request;
    let status = 500;
    try {
      const response = handler(request);
      status = response.status;
      return response;
    } finally {
      const record = { client, timestamp: timestamp(), method, url, status };
      log(formatAccessLine(record));
    }
  };
}

/**
 * Creates a function that formats a record as one line, without its end. The
 * version is a guess, the likeliest: Deno does not show it to a handler.
 */
export function createAccessLineFormat(): (record: AccessRecord) => string {
  const escapedTarget = rememberLast((url) => escape(requestTarget(url)));
  return ({ client, timestamp, method, url, status }) => {
    // An IPv4 client on a dual-stack socket
    const address = client.startsWith("::ffff:") ? client.slice(7) : client;
    // A method is a token (RFC 9110, section 9.1): there is nothing to escape
    const request = `${method} ${escapedTarget(url)} HTTP/1.1`;
    return `${address} - - [${timestamp}] "${request}" ${status} -`;
  };
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
