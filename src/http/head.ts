import type { Handler } from "./handler.ts";

/** Wraps a handler: leaves the body out of a response to HEAD, which over HTTP/2 Deno sends. */
export function withHead(handler: Handler): Handler {
  return (request, context) => {
    const response = handler(request, context);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}
