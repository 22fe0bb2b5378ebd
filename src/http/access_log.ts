import type { Clock } from "../clock.ts";
import type { LineWriter } from "../log/line_writer.ts";
import type { Handler } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";

const MAX_LOGGED_CHARACTERS = 1000; // longer methods and targets are truncated

/**
 * Wraps a handler, which must not throw. Logs each request once its response is known,
 * even if its client has gone. What Deno refuses itself, such as invalid HTTP, is not logged.
 */
export function withAccessLog(
  handler: Handler,
  writer: LineWriter,
  clock: Clock,
): Handler {
  const timestamp = createTimestamp(clock);
  const escapeMethod = memoizeLast(escapeText);
  const escapeTarget = memoizeLast(escapeText);
  const formatLine = memoizeLast((
    client: string,
    time: string,
    method: string,
    target: string,
    status: number,
  ) => {
    // On a dual-stack socket, IPv4 addresses are mapped (RFC 4291, section 2.5.5.2)
    const address = client.replace(/^::ffff:(?=\d+\.)/, "");
    // Deno does not reveal the version to a handler
    const requestLine = `${escapeMethod(method)} ${
      escapeTarget(target)
    } HTTP/1.1`;
    return `${address} - - [${time}] "${requestLine}" ${status} -`;
  });
  return (request, context) => {
    const response = handler(request, context);
    const { client, target = "-" } = context; // unknown if Host is invalid
    const { method } = request;
    // A record of @std/log for each request would take 0.6 µs
    writer.write(
      formatLine(client, timestamp(), method, target, response.status),
    );
    return response;
  };
}

/** Creates a function that returns the local time as `dd/Mon/yyyy HH:MM:SS`. */
export function createTimestamp(
  { wallTime }: Pick<Clock, "wallTime">,
): () => string {
  const format = memoizeLast((second: number) => {
    // ECMA-262 defines this format: Fri Nov 20 2026 17:14:56 GMT+0000 (…)
    const [, month, day, year, clock] = `${new Date(second * 1000)}`.split(" ");
    return `${day}/${month}/${year} ${clock}`;
  });
  return () => format(Math.floor(wallTime() / 1000));
}

/**
 * Escapes text of a client so that it cannot forge a line or control the terminal: `"`
 * and `\` get a backslash, and a space or a byte that is not printable ASCII becomes
 * `\xNN`. A text that is too long ends with `\...`.
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
