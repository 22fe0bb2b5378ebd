import type { Logger } from "@std/log/logger";
import { RESOURCE_PATH } from "../config.ts";
import type { Sensor } from "../sensor/last_reading.ts";
import type { Responses } from "./responses.ts";

/** Answers a request. A middleware takes a handler and returns a handler. */
export type Handler = (request: Request, context: RequestContext) => Response;

/** What Deno.serve tells about a request. */
export type ServeInfo = Deno.ServeHandlerInfo<Deno.NetAddr>;

/** What is known of a request besides the request itself. */
export interface RequestContext {
  readonly client: string; // its IP address
  readonly target: string | undefined; // path and query, if the Host field is valid
}

const BAD_HOST = "The Host header field is invalid";
const NOT_FOUND = `The only resource is ${RESOURCE_PATH}`;
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const FAILED = "The sensor data is not available at the moment";
const DENO_WITH_LENGTH_0 = /^2\.(8\.3|9\.[01])$/.test(Deno.version.deno);

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

/** Wraps a handler: answers its errors with 500, and shows them only in the log. */
export function withErrors(
  handler: Handler,
  responses: Responses,
  logger: Logger,
): Handler {
  return (request, context) => {
    try {
      return handler(request, context);
    } catch (error) {
      logger.error(`The handler failed: ${error}`);
      if (error instanceof Error) logger.debug(error.stack);
      return responses.problem(500, FAILED);
    }
  };
}

/** Wraps the chain: omits the body for HEAD, which Deno.serve sends over HTTP/2. */
export const withoutHeadBody =
  (handler: (request: Request, info: ServeInfo) => Response) =>
  (request: Request, info: ServeInfo) => {
    const response = handler(request, info);
    return request.method === "HEAD" ? omitBody(request, response) : response;
  };

async function omitBody({ headers }: Request, response: Response) {
  // Over HTTP/1, which has a Host field, these versions would say: Content-Length: 0
  if (DENO_WITH_LENGTH_0 && headers.has("host")) return response;
  const { length } = await response.bytes();
  response.headers.set("content-length", `${length}`);
  return new Response(null, response);
}
