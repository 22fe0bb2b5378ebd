import { memoizeLast } from "./memoize_last.ts";

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid. Deno.serve concatenates the Host field and the
 * target without validating them, so only a valid Host shows where the target begins:
 * `http://x/y/z` is either Host `x` and target `/y/z`, or the invalid Host `x/y` and
 * target `/z`. A target in absolute form becomes the URL as it is. `new URL()` would
 * normalize the path.
 */
export function requestTarget(request: Request): string | undefined {
  return unambiguousTarget(request.url) ?? validateTarget(request);
}

/**
 * The fast path: returns the target if the URL alone shows where it begins, as with a
 * single slash after a plain host. The host `localhost` is not enough, since Deno also
 * substitutes it for a missing or invalid Host field.
 */
const unambiguousTarget = memoizeLast((url: string): string | undefined =>
  /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/.exec(url)?.[1]
);

/** The slow path: returns the target after it has validated the Host field. */
function validateTarget({ url, headers }: Request): string | undefined {
  const [, authority = "", target = ""] =
    url.match(/^[^:]+:\/\/([^/?#]*)(.*)$/s) ?? [];
  // Deno creates the headers when they are read, which takes 2 µs
  const host = headers.get("host") ?? authority;
  // If Host is not in the URL, the target is in absolute form and replaces it
  const isHostInUrl = url.startsWith(`http://${host}`) ||
    /^localhost(:|$)/.test(authority);
  if (!AUTHORITY.test(isHostInUrl ? host : authority)) return undefined;
  // Without a path, as in CONNECT, the target is the root
  return target.startsWith("/") ? target : `/${target}`;
}
