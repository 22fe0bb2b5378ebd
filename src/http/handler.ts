/** Answers a request. A middleware takes a handler and returns a handler. */
export type Handler = (request: Request, context: RequestContext) => Response;

/** What is known of a request besides the request itself. */
export interface RequestContext {
  /** The IP address of the client. */
  readonly client: string;
  /** The path and query, or undefined if the Host field is invalid. */
  readonly target: string | undefined;
}
