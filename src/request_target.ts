// What a client asked for, cut out of the url that Deno.serve made of it.

/** What a client asked for. */
export interface RequestTarget {
  /** Path and query, or the authority for a CONNECT (RFC 9112, section 3.2). */
  readonly text: string;
  /** Whether the authority before it is one (RFC 9112, section 3.2). */
  readonly hasValidHost: boolean;
}

/** A host and perhaps a port (RFC 3986, section 3.2). */
const AUTHORITY =
  /^(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(:\d*)?$/i;

/**
 * Returns a function that computes something from a request's target, and does
 * not compute it again for the same url: most requests are like the one before.
 *
 * The url is cut, not parsed: it is the client's Host field and target, written
 * one behind the other. `new URL` would throw, or change the path. With a
 * single slash it is clear where the host ends; with more, a Host field may
 * reach into the path, and only the field itself can tell.
 */
export function rememberTarget<T>(
  compute: (target: RequestTarget) => T,
): (request: Request) => T {
  let lastUrl: string | undefined;
  let last: T;
  return (request) => {
    const { url } = request;
    if (url === lastUrl) return last;
    const start = url.indexOf("://") + 3;
    const slash = url.indexOf("/", start);
    const hasOneSlash = slash >= 0 && url.indexOf("/", slash + 1) < 0;
    lastUrl = hasOneSlash ? url : undefined;
    const end = hasOneSlash ? slash : start + hostLength(request, start);
    const hasValidHost = AUTHORITY.test(url.slice(start, end));
    last = compute({ text: url.slice(end), hasValidHost });
    return last;
  };
}

/** Returns how long the host is that begins at `start`, 0 for a CONNECT. */
function hostLength({ headers, url }: Request, start: number): number {
  const field = headers.get("host") ?? "";
  // If there are more (HTTP/2), the first one is in the url; an authority in
  // the request line stands there in the place of all
  const hosts = [field, field.split(", ", 1)[0]!];
  const host = hosts.find((text) => url.startsWith(`${text}/`, start));
  return host?.length || Math.max(0, url.indexOf("/", start) - start);
}
