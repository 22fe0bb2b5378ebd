/**
 * Gives the status codes and texts that npm's copy has, and the service uses,
 * their types.
 *
 * @module
 */

import * as std from "deno-std/http/status.js";

export const STATUS_CODE: {
  readonly NoContent: 204;
  readonly BadRequest: 400;
  readonly NotFound: 404;
  readonly MethodNotAllowed: 405;
  readonly ServiceUnavailable: 503;
} = std.STATUS_CODE;

export const STATUS_TEXT: {
  readonly 400: "Bad Request";
  readonly 404: "Not Found";
  readonly 405: "Method Not Allowed";
  readonly 500: "Internal Server Error";
  readonly 503: "Service Unavailable";
} = std.STATUS_TEXT;
