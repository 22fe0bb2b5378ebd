// HTTP/2 as bytes (RFC 9113), for what no client library would send.

import { send } from "./network.ts";
import { within } from "./wait.ts";

/** The frames' types (RFC 9113, section 6). */
export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  CONTINUATION: 9,
} as const;

/** The flags of a HEADERS frame that is a whole request. */
export const WHOLE = 0x5; // END_STREAM, END_HEADERS

/** A header field; each character of it is one byte. */
export type Field = [name: string, value: string];

/** A received frame. */
export interface Frame {
  type: number;
  stream: number;
  payload: Uint8Array;
}

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

/** Encodes a SETTINGS frame. */
export function settings(...values: [id: number, value: number][]) {
  const payload = new DataView(new ArrayBuffer(6 * values.length));
  for (const [index, [id, value]] of values.entries()) {
    payload.setUint16(6 * index, id);
    payload.setUint32(6 * index + 2, value);
  }
  return frame(TYPE.SETTINGS, 0, 0, new Uint8Array(payload.buffer));
}

/** Puts frames behind each other. */
export function concat(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let length = 0;
  for (const part of parts) {
    bytes.set(part, length);
    length += part.length;
  }
  return bytes;
}

/** Encodes fields, each as a literal that is not remembered (RFC 7541, 6.2.2). */
export function encodeFields(fields: Field[]): number[] {
  return fields.flatMap(([name, value]) => [
    0,
    ...encodeText(name),
    ...encodeText(value),
  ]);
}

/** Encodes a text without Huffman's code (RFC 7541, section 5.2). */
export function encodeText(text: string): number[] {
  const length = [Math.min(text.length, 127)];
  if (text.length >= 127) {
    let rest = text.length - 127;
    for (; rest >= 128; rest >>= 7) length.push(rest & 127 | 128);
    length.push(rest);
  }
  return [...length, ...Array.from(text, (char) => char.charCodeAt(0))];
}

/** The fields of a request, GET /datasensor unless told otherwise. */
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

/**
 * Decodes the status of a response, its first field (RFC 7541, section 6 and
 * appendix A). The server may not use its header table: see open().
 */
function decodeStatus(block: Uint8Array): number {
  const first = block.findIndex((byte) => byte >> 5 !== 1); // a size update
  const known = [200, 204, 206, 304, 400, 404, 500];
  const indexed = known[block[first]! - 0x88];
  if (indexed !== undefined) return indexed;
  const text = block.subarray(first + 2, first + 2 + (block[first + 1]! & 127));
  const isHuffman = block[first + 1]! > 127;
  if (!isHuffman) return Number(String.fromCharCode(...text));
  const bits = Array.from(text, (byte) => byte.toString(2).padStart(8, "0"));
  // 0 to 2 are five bits long, 3 to 9 six
  const digits = bits.join("").matchAll(/000(..)|011(...)/g);
  return Number(
    Array.from(
      digits,
      ([, short, long]) => short ? parseInt(short, 2) : parseInt(long!, 2) + 2,
    ).join("").slice(0, 3),
  );
}

/** A connection to a server that speaks HTTP/2 without being asked to. */
export class Http2Connection implements Disposable {
  readonly #connection: Deno.Conn;
  readonly #buffer = new Uint8Array(64 * 1024);
  #unread = new Uint8Array();
  #isClosed = false;

  private constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** Connects, and sends the preface with settings. */
  static async open(
    port: number,
    ...values: [id: number, value: number][]
  ): Promise<Http2Connection> {
    const connection = new Http2Connection(await Deno.connect({ port }));
    await connection.send(
      new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      settings([0x1, 0], ...values), // HEADER_TABLE_SIZE: none to decode
    );
    return connection;
  }

  /** Sends bytes. */
  async send(...parts: Uint8Array[]): Promise<void> {
    await send(this.#connection, concat(parts));
  }

  /** Sends a request. */
  async request(stream: number, fields: Field[]): Promise<void> {
    await this.send(frame(TYPE.HEADERS, WHOLE, stream, encodeFields(fields)));
  }

  /** Receives a frame; undefined when the connection has ended. */
  async receive(): Promise<Frame | undefined> {
    for (;;) {
      const view = new DataView(this.#unread.buffer, this.#unread.byteOffset);
      const length = 9 + (this.#unread.length < 9 ? 0 : view.getUint32(0) >> 8);
      if (this.#unread.length >= length) {
        const payload = this.#unread.subarray(9, length);
        this.#unread = this.#unread.subarray(length);
        return { type: view.getUint8(3), stream: view.getUint32(5), payload };
      }
      const count = await within(
        this.#connection.read(this.#buffer).catch(() => null),
        () => "no frame follows",
      );
      if (count === null) return;
      this.#unread = concat([this.#unread, this.#buffer.subarray(0, count)]);
    }
  }

  /**
   * Receives until a stream is answered, and returns the status; or in words
   * how it, or the whole connection, was refused.
   */
  async answer(stream: number): Promise<number | string> {
    for (;;) {
      const received = await this.receive();
      if (received === undefined) return "closed";
      const { type, payload } = received;
      if (type === TYPE.GOAWAY) return `connection error ${payload[7]}`;
      if (received.stream !== stream) continue;
      if (type === TYPE.RST_STREAM) return `stream error ${payload[3]}`;
      if (type === TYPE.HEADERS) return decodeStatus(payload);
    }
  }

  [Symbol.dispose](): void {
    if (!this.#isClosed) this.#connection.close();
    this.#isClosed = true;
  }
}
