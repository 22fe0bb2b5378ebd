// The access log middleware: one line per handled request.

import type { Handler } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";

const MAX_LOGGED_CHARACTERS = 1000; // longer methods and targets are truncated

const escapeMethod = memoizeLast(escapeText);
const escapeTarget = memoizeLast(escapeText);

/**
 * Wraps a handler so that every request is logged. If the handler throws, the line
 * has the status 500, which the server sends. As handlers are synchronous, the
 * line is logged even if the client has gone.
 *
 * @param log Receives each line, without a line end; must not throw.
 */
export function withAccessLog(
  handler: Handler,
  log: (line: string) => void,
  timestamp: () => string = createTimestamp(),
): (request: Request, target: string | undefined, client: string) => Response {
  return (request, target, client) => {
    let status = 500;
    try {
      const response = handler(request, target);
      status = response.status;
      return response;
    } finally {
      // On a dual-stack socket, IPv4 addresses are mapped (RFC 4291, 2.5.5.2)
      const address = client.startsWith("::ffff:") ? client.slice(7) : client;
      const method = escapeMethod(request.method);
      const path = escapeTarget(target ?? "-"); // unknown if Host is invalid
      // Deno does not reveal the version to a handler
      const line = `${method} ${path} HTTP/1.1`;
      log(`${address} - - [${timestamp()}] "${line}" ${status} -`);
    }
  };
}

/** Creates a function that returns the local time as `dd/Mon/yyyy HH:MM:SS`. */
export function createTimestamp(now: () => number = Date.now): () => string {
  const format = memoizeLast((second: number) => {
    // ECMA-262 defines this format: Fri Nov 20 2026 17:14:56 GMT+0000 (…)
    const text = new Date(second * 1000).toString();
    const [, month, day, year, clock] = text.split(" ");
    return `${day}/${month}/${year} ${clock}`;
  });
  return () => format(Math.floor(now() / 1000));
}

/**
 * Escapes text from a client so that it cannot forge a line or control the
 * terminal: `"` and `\` get a backslash, and a space or a byte that is not
 * printable ASCII becomes `\xNN`. A text that is too long ends with `\...`.
 */
function escapeText(text: string): string {
  const escaped = text.slice(0, MAX_LOGGED_CHARACTERS)
    .replace(/["\\]/g, "\\$&")
    .replace(/[^!-~]+/g, (characters) => {
      const hex = new TextEncoder().encode(characters).toHex();
      return hex.replace(/../g, "\\x$&");
    });
  return text.length > MAX_LOGGED_CHARACTERS ? `${escaped}\\...` : escaped;
}
