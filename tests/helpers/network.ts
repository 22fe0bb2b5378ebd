// Sockets: what a client does that no HTTP client would.

import { DEADLINE_MS, waitFor, within } from "./wait.ts";

/** Fetches with a time-out. */
export function get(
  url: string,
  options?: RequestInit & { client?: Deno.HttpClient },
): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS), ...options });
}

/** Finds a free port, for a program that does not report its own. */
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
 * Reads from a connection until the server closes it, or until a condition.
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
      () => `nothing after "${response.slice(-2000)}"`,
    );
    if (count === null) break;
    response += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
  return response;
}

/**
 * Sends bytes over a new connection and returns what the server sends until it
 * closes the connection, or until a condition.
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
    .catch(() => {}); // the server can answer before it has read all
  return await receive(connection, until);
}

/** Waits until connections to a port are refused. */
export async function waitUntilClosed(port: number): Promise<void> {
  await waitFor(() =>
    Deno.connect({ port }).then((connection) => {
      connection.close();
      return false;
    }, () => true)
  );
}
