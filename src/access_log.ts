// The middleware: turns each handled request into one line.

import type { Handler } from "./handler.ts";
import { rememberTarget } from "./request_target.ts";

/** How long method and target may be in a line, so that it has 4 KiB at most. */
const MAX_REQUEST = 4000;

/** The facts of one handled request. */
export interface AccessRecord {
  readonly client: string;
  readonly timestamp: string;
  readonly method: string;
  /** The request's target, escaped. */
  readonly target: string;
  readonly status: number;
}

/**
 * Wraps a handler so that every request is logged, also when the handler
 * throws: as the 500 that the server answers then.
 *
 * @param log Takes each line, without a line end; must not throw.
 */
export function withAccessLog(
  handler: Handler,
  log: (line: string) => void,
  timestamp: () => string = createTimestamp(),
): (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Response {
  const escapedTarget = rememberTarget(({ text }) => escape(text));
  return (request, info) => {
    const client = info.remoteAddr.hostname; // once it is closed, this throws
    let status = 500;
    try {
      const response = handler(request);
      status = response.status;
      return response;
    } finally {
      const { method } = request;
      const target = escapedTarget(request);
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
  // An IPv4 client on a dual-stack socket
  const address = client.startsWith("::ffff:") ? client.slice(7) : client;
  // A method is a token (RFC 9110, section 9.1): there is nothing to escape
  const request = cut(`${method} ${target}`);
  return `${address} - - [${timestamp}] "${request} HTTP/1.1" ${status} -`;
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
 * Escapes what a client sent, so that it can neither end the line, its quotes
 * or a field, nor reach the terminal: `\"`, `\\`, and `\xNN` for each byte of
 * UTF-8 that is not printable ASCII, or a space.
 */
function escape(text: string): string {
  const kept = text.slice(0, MAX_REQUEST); // cut() leaves no more of it
  return kept.replace(/["\\]/g, "\\$&").replace(/[^!-~]+/g, (characters) => {
    let escaped = "";
    for (const byte of new TextEncoder().encode(characters)) {
      escaped += `\\x${byte.toString(16).padStart(2, "0")}`;
    }
    return escaped;
  });
}

/**
 * Cuts an overlong request behind a whole character or escape, and marks it with
 * `\...`, which no client can send.
 */
function cut(request: string): string {
  if (request.length <= MAX_REQUEST) return request;
  const kept = request.slice(0, MAX_REQUEST);
  return `${kept.match(/^(?:[^\\]|\\["\\]|\\x..)*/)![0]}\\...`;
}
