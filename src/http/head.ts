import type { Handler } from "./handler.ts";

/** Wraps a handler: leaves the body out of a response to HEAD. Over HTTP/2, Deno sends it. */
export function withHead(handler: Handler): Handler {
  return (request, context) => {
    const response = handler(request, context);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}
