import type { Logger } from "../log/logger.ts";
import type { ErrorHandler, Handler } from "./handler.ts";
import type { Responses } from "./responses.ts";

const FAILED = "The service has failed: its log says why";

/** Creates a handler that answers errors with 500, and shows them only in the log. */
export function createErrorHandler(
  responses: Responses,
  logger: Logger,
): ErrorHandler {
  return (error) => {
    logger.error(`The handler failed: ${error}`);
    if (error instanceof Error) logger.debug(error.stack);
    return responses.problem(500, FAILED);
  };
}

/** Wraps a handler: answers its errors. */
export function withErrors(handler: Handler, onError: ErrorHandler): Handler {
  return (request, context) => {
    try {
      return handler(request, context);
    } catch (error) {
      return onError(error);
    }
  };
}
