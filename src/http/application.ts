import type { ErrorHandler } from "./errors.ts";
import type { Handler } from "./handler.ts";
import { requestTarget } from "./request_target.ts";

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
