import { memoizeLast } from "./memoize_last.ts";

/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/** A URL: its host and the rest. */
const URL_PARTS = /^[^:]+:\/\/([^/?#]*)(.*)$/s;

/**
 * A URL whose Host field is valid: with one slash after `http://`, none is in the field. Deno
 * puts localhost in place of some invalid ones. Behind a target that is a full URL, an invalid
 * one is overlooked, which does no harm.
 */
const PLAIN_URL = /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/;

const plainTarget = memoizeLast((url: string) => PLAIN_URL.exec(url)?.[1]);

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or undefined if
 * the host is invalid. Deno.serve concatenates the Host field and the target without
 * validating them, so only a valid Host shows where the target begins: `http://x/y/z` is
 * either Host `x` and target `/y/z`, or the invalid Host `x/y` and target `/z`. If the
 * target is a full URL, `request.url` is that URL. `new URL()` would normalize the path.
 */
export function requestTarget(request: Request): string | undefined {
  // Most requests end here: Deno creates the headers only when they are read
  const plain = plainTarget(request.url);
  if (plain !== undefined) return plain;
  const [, urlHost = "", rest = ""] = URL_PARTS.exec(request.url) ?? [];
  const host = request.headers.get("host") ?? "";
  if (!AUTHORITY.test(urlHost) || !AUTHORITY.test(host)) return undefined;
  return rest.startsWith("/") ? rest : `/${rest}`; // CONNECT and OPTIONS * have no path
}
