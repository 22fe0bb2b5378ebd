// Encodes HTTP/2 frames (RFC 9113), to send what no client library would.

import { receive, send } from "./network.ts";
import { DEADLINE_MS, delay } from "./wait.ts";

// Frame types and flags (RFC 9113, section 6)
const TYPE = { DATA: 0, HEADERS: 1, RST_STREAM: 3, SETTINGS: 4 };
const FLAG = { END_STREAM: 0x1, END_HEADERS: 0x4 };

/** The setting INITIAL_WINDOW_SIZE 0: the server may not send any data. */
export const NO_WINDOW = [0, 4, 0, 0, 0, 0];

/** Header fields by name. Each character stands for one byte. */
export type Fields = Record<string, string | undefined>;

const REQUEST: Fields = {
  ":method": "GET",
  ":scheme": "http",
  ":path": "/datasensor",
  ":authority": "board",
};

/** Encodes a number of requests with some other fields; undefined omits one. */
export function requests(count: number, fields?: Fields): Uint8Array[] {
  const block = encodeFields(fields);
  const flags = FLAG.END_STREAM | FLAG.END_HEADERS;
  return Array.from(
    { length: count },
    (_, index) => frame(TYPE.HEADERS, flags, 2 * index + 1, block),
  );
}

export const cancel = (stream: number): Uint8Array =>
  frame(TYPE.RST_STREAM, 0, stream, [0, 0, 0, 8]);

/** Encodes fields as literals without indexing (RFC 7541, section 6.2.2). */
function encodeFields(fields?: Fields): number[] {
  return Object.entries({ ...REQUEST, ...fields }).flatMap(([name, value]) =>
    value === undefined ? [] : [0, ...encodeText(name), ...encodeText(value)]
  );
}

/** Encodes a text of fewer than 16,511 bytes (RFC 7541, sections 5.1 and 5.2). */
function encodeText(text: string): number[] {
  const rest = text.length - 127;
  const length = rest < 0 ? [text.length] : [127, rest & 127 | 128, rest >> 7];
  return [...length, ...Array.from(text, (char) => char.charCodeAt(0))];
}

/** Encodes a frame (RFC 9113, section 4.1). */
function frame(
  type: number,
  flags: number,
  stream: number,
  payload: number[],
): Uint8Array {
  const bytes = new Uint8Array(9 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length << 8 | type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  bytes.set(payload, 9);
  return bytes;
}

/** Connects without an upgrade, and sends settings and frames. */
export async function openHttp2(
  port: number,
  settings: number[],
  ...frames: Uint8Array[]
): Promise<Deno.Conn> {
  const connection = await Deno.connect({ port });
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const all = [preface, frame(TYPE.SETTINGS, 0, 0, settings), ...frames];
  await send(connection, await new Blob(all as BlobPart[]).bytes());
  return connection;
}

/**
 * Sends requests with long fields over 20 connections, and reads no answer, until the server
 * closes them: what they have taken is free then, but scattered.
 */
export async function sendUnread(port: number): Promise<void> {
  const fields = Object.fromEntries(
    Array.from({ length: 9 }, (_, i) => [`x${i}`, "x".repeat(1500)]),
  );
  const frames = requests(190, fields);
  await Promise.all(Array.from({ length: 20 }, async () => {
    try {
      using connection = await openHttp2(port, NO_WINDOW, ...frames);
      await receive(connection);
    } catch {
      // The server has closed it before
    }
  }));
}

/** Empty DATA frames: a busy machine has no time to encode them during an attack. */
const EMPTY_FRAMES = Uint8Array.from(
  Array(10_000).fill([...frame(TYPE.DATA, 0, 1, [])]).flat(),
);

const ATTACKERS = 4; // so few that a busy program still gets its turn between them

/** Sends requests with endless empty DATA frames, until each attacker is shut out thrice. */
export async function flood(port: number): Promise<void> {
  const end = AbortSignal.timeout(DEADLINE_MS);
  const start = frame(TYPE.HEADERS, FLAG.END_HEADERS, 1, encodeFields());
  await Promise.all(Array.from({ length: ATTACKERS }, async () => {
    for (let lost = 0; lost < 3 && !end.aborted;) {
      try {
        using connection = await openHttp2(port, NO_WINDOW, start);
        lost++; // only the program ends what follows
        while (true) await send(connection, EMPTY_FRAMES);
      } catch {
        await delay(1); // it is refused or closed
      }
    }
  }));
}
