import type { Logger } from "@std/log/logger";
import { RESOURCE_PATH } from "../config.ts";
import type { Sensor } from "../sensor/last_reading.ts";
import type { Responses } from "./responses.ts";

/** Answers a request. A middleware takes a handler and returns a handler. */
export type Handler = (request: Request, context: RequestContext) => Response;

/** What is known of a request besides the request itself. */
export interface RequestContext {
  readonly client: string; // its IP address
  readonly target: string | undefined; // path and query, if the Host field is valid
}

/** What Deno.serve calls: for each request, and for an error while it is answered. */
export interface Application {
  handler(request: Request, info: ServeInfo): Response | Promise<Response>;
  onError(error: unknown): Response;
}

/** What Deno.serve tells about a request. */
export type ServeInfo = Deno.ServeHandlerInfo<Deno.NetAddr>;

const BAD_HOST = "The Host header field is invalid";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const FAILED = "The sensor data is not available at the moment";

/** Creates the handler of the only resource, `/datasensor`. */
export function createResource(sensor: Sensor, responses: Responses): Handler {
  return ({ method }, { target }) => {
    if (target === undefined) return responses.problem(400, BAD_HOST);
    if (!isResource(target)) return responses.problem(404, NOT_FOUND);
    if (method === "OPTIONS") return responses.options();
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead) return responses.problem(405, READ_ONLY);
    const reading = sensor();
    if (typeof reading === "string") return responses.problem(503, reading);
    return responses.reading(reading);
  };
}

/** Whether a target is the resource's path (RFC 3986, section 6.2.2.2). */
function isResource(target: string): boolean {
  if (target === RESOURCE_PATH) return true;
  try {
    return decodeURIComponent(target.split("?", 1)[0]!) === RESOURCE_PATH;
  } catch {
    return false; // a malformed escape
  }
}

/** Creates a function that answers an error with 500, and shows it only in the log. */
export function createErrorHandler(responses: Responses, logger: Logger) {
  return (error: unknown): Response => {
    logger.error(`The handler failed: ${error}`);
    if (error instanceof Error) logger.debug(error.stack);
    return responses.problem(500, FAILED);
  };
}

/** Wraps a handler: answers its errors. */
export function withErrors(
  handler: Handler,
  onError: Application["onError"],
): Handler {
  return (request, context) => {
    try {
      return handler(request, context);
    } catch (error) {
      return onError(error);
    }
  };
}

/** Wraps the chain: omits the body for HEAD, which Deno.serve sends over HTTP/2. */
export function withoutHeadBody(
  handler: (request: Request, info: ServeInfo) => Response,
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
