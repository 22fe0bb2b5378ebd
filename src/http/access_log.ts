import type { Logger } from "@std/log/logger";
import type { Handler } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";

const MAX_LOGGED_CHARACTERS = 1000; // longer methods and targets are truncated

const escapeMethod = memoizeLast(escapeText);
const escapeTarget = memoizeLast(escapeText);

/**
 * Wraps a handler, which must not throw, so that every request is logged. As handlers
 * are synchronous, the line is logged even if the client has gone.
 */
export function withAccessLog(
  handler: Handler,
  logger: Logger,
  timestamp: () => string = createTimestamp(),
): Handler {
  return (request, info) => {
    const response = handler(request, info);
    // On a dual-stack socket, IPv4 addresses are mapped (RFC 4291, 2.5.5.2)
    const isMapped = info.client.startsWith("::ffff:");
    const client = isMapped ? info.client.slice(7) : info.client;
    const method = escapeMethod(request.method);
    const target = escapeTarget(info.target ?? "-"); // unknown if Host is invalid
    // Deno does not reveal the version to a handler
    const line = `"${method} ${target} HTTP/1.1"`;
    logger.info(`${client} - - [${timestamp()}] ${line} ${response.status} -`);
    return response;
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
