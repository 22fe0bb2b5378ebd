// What a client requested, taken from the URL that Deno.serve builds.

import { memoizeLast } from "./memoize_last.ts";

/**
 * Fast path: if there is only one slash after `http://`, it starts the path.
 * Returns "" for any other URL, and for `localhost`, which Deno substitutes for a
 * missing or invalid Host field.
 */
const fastTarget = memoizeLast((url: string) =>
  /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/.exec(url)?.[1] ?? ""
);

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid: then the path cannot be located.
 *
 * Deno.serve builds the URL without validation; `new URL` would change some paths:
 *
 *     http://x/y/z        Host x, target /y/z; or the invalid Host x/y, target /z
 *     http://localhost/z  missing or invalid Host, target /z
 *     http://x/z          target in absolute form, any Host
 */
export function requestTarget(request: Request): string | undefined {
  const { url } = request;
  const fast = fastTarget(url);
  if (fast) return fast;
  const [, authority = "", target = ""] =
    url.match(/^[^:]+:\/\/([^/?#]*)(.*)$/s) ?? [];
  if (!AUTHORITY.test(authority)) return undefined;
  // Deno creates the headers when they are read, which takes 2 µs
  const host = request.headers.get("host") ?? "";
  const isHostInUrl = host.startsWith(authority) ||
    authority.startsWith("localhost");
  if (isHostInUrl && !AUTHORITY.test(host)) return undefined;
  // Without a path, as in CONNECT, the target is the root
  return target.startsWith("/") ? target : `/${target}`;
}
