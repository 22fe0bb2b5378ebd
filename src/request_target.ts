// What a client requested, taken from the URL that Deno.serve builds.

import { memoizeLast } from "./memoize_last.ts";

/**
 * Fast path: a single slash after `http://` must be the start of the path, so the
 * Host field contains none. Returns "" for any other URL, and for `localhost`,
 * which Deno substitutes for a missing or invalid field.
 */
const plainTarget = memoizeLast((url: string) =>
  /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/.exec(url)?.[1] ?? ""
);

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid: then the path cannot be located.
 *
 * Deno concatenates the URL from `http://`, the client's Host field and target,
 * without validation. A target with an authority is the URL itself. `new URL`
 * would throw for some of them, and change the path of others.
 */
export function requestTarget(request: Request): string | undefined {
  const { url } = request;
  const plain = plainTarget(url);
  if (plain) return plain;
  // Deno creates the headers when they are read, which takes 2 µs
  if (!AUTHORITY.test(request.headers.get("host") ?? "")) return undefined;
  const [, authority = "", target = ""] =
    url.match(/^[^:]+:\/\/([^/?#]*)(.*)$/s) ?? [];
  if (!AUTHORITY.test(authority)) return undefined;
  // Without a path, as in CONNECT, the target is the root
  return target.startsWith("/") ? target : `/${target}`;
}
