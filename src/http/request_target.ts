import type { Handler, ServeInfo } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";

/**
 * The fast path: returns the target if the URL alone shows where it begins, and
 * otherwise "". The host `localhost` is not enough, since Deno also substitutes it
 * for a missing or invalid Host field.
 */
const fastTarget = memoizeLast((url: string) =>
  /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/.exec(url)?.[1] ?? ""
);

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/** Wraps a handler for Deno.serve: passes it the context of a request. */
export function withContext(handler: Handler) {
  return (request: Request, { remoteAddr }: ServeInfo): Response => {
    const target = requestTarget(request);
    return handler(request, { client: remoteAddr.hostname, target });
  };
}

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid. Deno.serve concatenates the Host field and the
 * target without validating them, so only a valid Host shows where the target begins:
 * `http://x/y/z` is either Host `x` and target `/y/z`, or the invalid Host `x/y` and
 * target `/z`. A target in absolute form becomes the URL as it is. `new URL()` would
 * normalize the path.
 */
export function requestTarget(request: Request): string | undefined {
  const fast = fastTarget(request.url);
  if (fast) return fast;
  const [, authority = "", target = ""] =
    request.url.match(/^[^:]+:\/\/([^/?#]*)(.*)$/s) ?? [];
  // Deno creates the headers when they are read, which takes 2 µs
  const host = request.headers.get("host") ?? authority;
  // If Host is not in the URL, the target is in absolute form and replaces it
  const isHostInUrl = request.url.startsWith(`http://${host}`) ||
    /^localhost(:|$)/.test(authority);
  if (!AUTHORITY.test(isHostInUrl ? host : authority)) return undefined;
  // Without a path, as in CONNECT, the target is the root
  return target.startsWith("/") ? target : `/${target}`;
}
