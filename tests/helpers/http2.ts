// HTTP/2 as bytes (RFC 9113), for what no client library would send.

import { send } from "./network.ts";

/** The types of frames (RFC 9113, section 6). */
export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
} as const;

/** The flags of a HEADERS frame that is a whole request. */
export const WHOLE = 0x5; // END_STREAM, END_HEADERS

/** A header field; each of its characters is one byte. */
export type Field = [name: string, value: string];

/** Encodes a frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: ArrayLike<number> = [],
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(9 + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, payload.length << 8 | type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  bytes.set(payload, 9);
  return bytes;
}

/** Concatenates frames. */
export function concat(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(length);
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

/** Encodes fields, each as a literal that is not indexed (RFC 7541, 6.2.2). */
export function encodeFields(fields: Field[]): number[] {
  return fields.flatMap((field) => [0, ...field.flatMap(encodeText)]);
}

/** Encodes a text of less than 127 bytes (RFC 7541, section 5.2). */
function encodeText(text: string): number[] {
  return [text.length, ...Array.from(text, (char) => char.charCodeAt(0))];
}

/** Returns the fields of a request, by default `GET /datasensor`. */
export function request(
  path = "/datasensor",
  method = "GET",
  ...others: Field[]
): Field[] {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    ...(others.length > 0 ? others : [[":authority", "board"] as Field]),
  ];
}

/** A client's connection that begins with HTTP/2, without an upgrade. */
export class Http2Connection implements Disposable {
  private constructor(readonly connection: Deno.TcpConn) {}

  /** Connects, and sends the preface with settings. */
  static async open(
    port: number,
    ...settings: [id: number, value: number][]
  ): Promise<Http2Connection> {
    const opened = new Http2Connection(await Deno.connect({ port }));
    const payload = settings.flatMap(([id, value]) => [0, id, 0, 0, 0, value]);
    await opened.send(
      new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      frame(TYPE.SETTINGS, 0, 0, payload),
    );
    return opened;
  }

  /** Sends frames. */
  async send(...frames: Uint8Array[]): Promise<void> {
    await send(this.connection, concat(frames));
  }

  /** Reads whatever comes, until the connection ends. */
  async drain(): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      while (await this.connection.read(buffer) !== null);
    } catch {
      // It was reset, or closed here
    }
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}
