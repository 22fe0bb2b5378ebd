/** A host and an optional port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/** A URL with a plain host, and its target, which has no further slash. */
const PLAIN_URL = /^http:\/\/(?!localhost)[\w.-]+(?::\d*)?(\/[^/]*)$/;

/** A host that Deno also substitutes for a missing or invalid Host field. */
const LOCALHOST = /^localhost(:|$)/;

/** Any URL: its host and the rest. */
const URL_PARTS = /^[^:]+:\/\/([^/?#]*)(.*)$/s;

/**
 * Returns the path and query of a request's target (RFC 9112, section 3.2), or
 * undefined if its host is invalid. Deno.serve concatenates the Host field and the
 * target without validating them, so only a valid Host shows where the target begins:
 * `http://x/y/z` is either Host `x` and target `/y/z`, or the invalid Host `x/y` and
 * target `/z`. If the target is a full URL, `request.url` is that URL, and Host is not
 * part of it. `new URL()` would normalize the path.
 */
export function requestTarget(request: Request): string | undefined {
  const { url } = request;
  // Most requests end here: Deno only creates the headers when they are read
  const plain = PLAIN_URL.exec(url);
  if (plain) return plain[1];

  const [, urlHost = "", rest = ""] = URL_PARTS.exec(url) ?? [];
  const host = request.headers.get("host") ?? urlHost;
  // If the target is a full URL, it begins with the URL's host, and Host is not checked
  // (section 3.2.2). Deno puts localhost in place of an invalid Host: then Host is checked
  const checksHost = LOCALHOST.test(urlHost) || beginsWithHost(url, host);
  if (!AUTHORITY.test(checksHost ? host : urlHost)) return undefined;
  return rest.startsWith("/") ? rest : `/${rest}`; // CONNECT has no path
}

/** Whether a URL begins with a Host field, and not only with a part of its host. */
function beginsWithHost(url: string, host: string): boolean {
  const prefix = `http://${host}`;
  return url.startsWith(prefix) && /^([/?#]|$)/.test(url.slice(prefix.length));
}
