// Requests as bytes, whole and half.

/** A GET without its end. */
export const HALF_HEADER = "GET /datasensor HTTP/1.1\r\nHost: board\r\n";

/** A GET after which the connection stays open. */
export const GET = `${HALF_HEADER}\r\n`;

/** A GET after which the server closes the connection. */
export const LAST_GET = `${HALF_HEADER}Connection: close\r\n\r\n`;

/** A POST that is answered, but whose body does not end. */
export const HALF_BODY = "POST /datasensor HTTP/1.1\r\nHost: board\r\n" +
  "Content-Length: 9\r\n\r\n{";
