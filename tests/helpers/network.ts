// Sockets: what a client does that no HTTP client would.

import { DEADLINE, waitFor, within } from "./wait.ts";

/** Asks with a time limit. */
export function get(
  url: string,
  options?: RequestInit & { client?: Deno.HttpClient },
): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(DEADLINE), ...options });
}

/** Finds a port that is free, for a program that cannot be asked for its own. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Writes all of the bytes. */
export async function send(
  connection: Pick<Deno.Conn, "write">,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    sent += await connection.write(bytes.subarray(sent));
  }
}

/**
 * Reads from a connection until the server closes it, or until the condition
 * holds.
 *
 * @throws {Error} If the connection breaks.
 */
export async function receive(
  connection: Deno.Conn,
  until: (response: string) => boolean = () => false,
): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(64 * 1024);
  let response = "";
  while (!until(response)) {
    const count = await within(
      connection.read(buffer),
      () => `nothing follows "${response.slice(-2000)}"`,
    );
    if (count === null) break;
    response += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return response;
}

/**
 * Sends a request over a TCP connection and returns all that comes back until the
 * server closes it, or until the condition holds.
 *
 * @throws {Error} If the connection breaks.
 */
export async function exchange(
  address: number | { hostname: string; port: number },
  request: string,
  until?: (response: string) => boolean,
): Promise<string> {
  const to = typeof address === "number" ? { port: address } : address;
  using connection = await Deno.connect(to);
  send(connection, new TextEncoder().encode(request))
    .catch(() => {}); // it need not take all of it to answer
  return await receive(connection, until);
}

/** Waits until nobody accepts connections on a port any more. */
export async function waitUntilClosed(port: number): Promise<void> {
  await waitFor(() =>
    Deno.connect({ port }).then((connection) => {
      connection.close();
      return false;
    }, () => true)
  );
}
