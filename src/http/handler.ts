import { requestTarget } from "./request_target.ts";

/** Answers a request. A middleware takes a handler and returns a handler. */
export type Handler = (request: Request, context: RequestContext) => Response;

/** What a handler gets besides the request. */
export interface RequestContext {
  /** The IP address of the client. */
  readonly client: string;
  /** The path and query, or undefined if the Host field is invalid. */
  readonly target: string | undefined;
}

/** Answers an error. */
export type ErrorHandler = (error: unknown) => Response;

/** What Deno.serve calls: for each request, and for an error outside the handlers. */
export interface Application {
  handler(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Response;
  onError: ErrorHandler;
}

/** Adapts a handler to Deno.serve: passes it the context of a request. */
export function withContext(handler: Handler): Application["handler"] {
  return (request, { remoteAddr }) => {
    const target = requestTarget(request);
    return handler(request, { client: remoteAddr.hostname, target });
  };
}

/** Wraps a handler: leaves the body out of a response to HEAD. Over HTTP/2, Deno sends it. */
export function withHead(handler: Handler): Handler {
  return (request, context) => {
    const response = handler(request, context);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}
