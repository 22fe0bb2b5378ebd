// Stands in for `@std/http/status` where jsr.io cannot be reached. It declares what the
// service uses, with the reason phrases of RFC 9110.

/** The reason phrase of each status that the service answers with a problem. */
export const STATUS_TEXT = {
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;
