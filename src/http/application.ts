import type { ErrorHandler } from "./errors.ts";
import type { Handler } from "./handler.ts";
import { requestTarget } from "./request_target.ts";

/** What Deno.serve calls: for each request, and for an error outside the handlers. */
export interface Application {
  handler(request: Request, info: ServeInfo): Response | Promise<Response>;
  onError: ErrorHandler;
}

/** What Deno.serve tells about a request. */
type ServeInfo = Deno.ServeHandlerInfo<Deno.NetAddr>;

/** A handler as Deno.serve calls it. */
type ServeHandler = (request: Request, info: ServeInfo) => Response;

/** Adapts a handler to Deno.serve: passes it the context of a request. */
export function withContext(handler: Handler): ServeHandler {
  return (request, { remoteAddr }) => {
    const target = requestTarget(request);
    return handler(request, { client: remoteAddr.hostname, target });
  };
}

/** Omits the body of responses to HEAD: over HTTP/2, Deno.serve would send it. */
export function withoutHeadBody(
  handler: ServeHandler,
): Application["handler"] {
  return (request, info) => {
    const response = handler(request, info);
    return request.method === "HEAD" ? omitBody(response) : response;
  };
}

async function omitBody(response: Response): Promise<Response> {
  const { length } = await response.bytes();
  response.headers.set("content-length", `${length}`);
  return new Response(null, response);
}
