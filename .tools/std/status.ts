// Declares types for the status texts of npm's deno-std that the service uses.

import * as std from "deno-std/http/status.js";

export const STATUS_TEXT: {
  readonly 400: "Bad Request";
  readonly 404: "Not Found";
  readonly 405: "Method Not Allowed";
  readonly 500: "Internal Server Error";
  readonly 503: "Service Unavailable";
} = std.STATUS_TEXT;
