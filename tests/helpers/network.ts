// Sends requests over raw sockets, to do what no HTTP client would.

import { tail, within } from "./wait.ts";

export const HALF_HEADER = "GET /datasensor HTTP/1.1\r\nHost: board\r\n";

/** A GET after which the connection stays open. */
export const GET = `${HALF_HEADER}\r\n`;

/** A GET after which the server closes the connection. */
export const LAST_GET = `${HALF_HEADER}Connection: close\r\n\r\n`;

/** A POST that is answered although its body is unfinished. */
export const HALF_BODY = "POST /datasensor HTTP/1.1\r\nHost: board\r\n" +
  "Content-Length: 9\r\n\r\n{";

/** Sends all of the data. */
export async function send(
  connection: Deno.Conn,
  data: BlobPart,
): Promise<void> {
  const bytes = await new Blob([data]).bytes();
  for (let sent = 0; sent < bytes.length;) {
    sent += await connection.write(bytes.subarray(sent));
  }
}

/** Opens a connection and sends a request, or a part of one. */
export async function open(port: number, request: string): Promise<Deno.Conn> {
  const connection = await Deno.connect({ port });
  await send(connection, request).catch(() => {}); // the server has closed it
  return connection;
}

/** Reads from a connection until the server closes it, or a condition is met. */
export async function receive(
  connection: Deno.Conn,
  until: (response: string) => boolean = () => false,
): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  let response = "";
  const explain = () => `more than "${tail(response)}"`;
  while (!until(response)) {
    const count = await within(connection.read(buffer), explain);
    if (count === null) break;
    response += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return response;
}

/** Sends a request over a new connection, and reads like {@linkcode receive}. */
export async function exchange(
  port: number,
  request: string,
  until?: (response: string) => boolean,
): Promise<string> {
  using connection = await Deno.connect({ port });
  // Not awaited, as the server may answer and close before reading everything
  send(connection, request).catch(() => {});
  return await receive(connection, until);
}

/** Sends GETs, each with its number's target, and waits until all are answered. */
export async function getMany(
  port: number,
  count: number,
  target = (_number: number) => "/datasensor",
): Promise<void> {
  for (let sent = 0; sent < count; sent += 50) {
    const size = Math.min(50, count - sent);
    const targets = Array.from({ length: size }, (_, i) => target(sent + i));
    const requests = targets.map((it) => GET.replace("/datasensor", it));
    const isLast = (text: string) => text.split("HTTP/1.1 ").length > size;
    const responses = await exchange(port, requests.join(""), isLast);
    if (!isLast(responses)) throw new Error("Not every request is answered");
  }
}
