// What a client asked for, taken from the url that Deno.serve builds.

/**
 * A url whose path is certain: the client's Host field cannot contain a slash,
 * since there is only one. `localhost` may stand for a missing or invalid field.
 */
const PLAIN_URL = /^http:\/\/(?!localhost)[\w.-]+(:\d*)?\/[^/]*$/;

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid: then nobody knows where the path begins.
 *
 * The url is `http://`, the client's Host field and target, concatenated without
 * a check, or the target itself if it has an authority. `new URL` would throw,
 * or change the path.
 */
export function requestTarget(request: Request): string | undefined {
  const { url } = request;
  if (PLAIN_URL.test(url)) return url.slice(url.lastIndexOf("/"));
  // Deno creates the headers when they are read, which takes 2 µs
  if (!AUTHORITY.test(request.headers.get("host") ?? "")) return undefined;
  const [, authority = "", target = ""] =
    url.match(/^[^:]+:\/\/([^/?#]*)(.*)$/s) ?? [];
  if (!AUTHORITY.test(authority)) return undefined;
  // Without a path, as in CONNECT, the target is the root
  return target.startsWith("/") ? target : `/${target}`;
}
