// What a client requested, taken from the URL that Deno.serve builds.

import { remember } from "./remember.ts";

/**
 * Fast path: if the only slash after `http://` starts the path, the Host field
 * contains none. `localhost` may replace a missing or invalid field: returns "".
 */
const plainTarget = remember((url: string) =>
  /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/.exec(url)?.[1] ?? ""
);

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid: then the path cannot be located.
 *
 * The URL is `http://`, the client's Host field and target, concatenated without
 * validation, or the target itself if it has an authority. `new URL` would throw
 * on some, and change the path of others.
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
