// Malformed and half requests over HTTP/1.1: none keeps the program
// from answering, leaks a descriptor or forges a line.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Random } from "../helpers/random.ts";
import { countDescriptors, missingProc } from "../helpers/resources.ts";
import { exchange, LAST_GET, receive, send } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

/** The seed of all random values. Set DATASENSOR_SEED to repeat a run. */
const SEED = Number(Deno.env.get("DATASENSOR_SEED") ?? Date.now() % 1e9);

const REQUESTS = 2000;
const VALID_REQUESTS = REQUESTS / 5; // one after every fifth hostile one
const CLIENTS = 16;

const TEMPLATES = [
  "GET /datasensor HTTP/1.1\nHost: board\n\n",
  "GET /datasensor HTTP/1.1\nHost: bad host^\n\n",
  "GET /datasensor HTTP/1.1\nHost: a/b?c#d\\e@f:g\n\n",
  "GET http://[::1/datasensor HTTP/1.1\nHost: board\n\n",
  "CONNECT board:80 HTTP/1.1\nHost: board\n\n",
  "OPTIONS * HTTP/1.1\nHost: board\n\n",
  `GET /${"a".repeat(60_000)} HTTP/1.1\nHost: board\n\n`,
  "GET /%ff%c0%af%zz HTTP/1.1\nHost: board\n\n",
  "POST /datasensor HTTP/1.1\nHost: board\nContent-Length: 5\n\nabcde",
  "POST / HTTP/1.1\nHost: board\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n",
  "GET /datasensor HTTP/1.1\nHost: board\nUpgrade: websocket\n" +
  "Connection: Upgrade\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n\n",
  "PRI * HTTP/2.0\n\nSM\n\n",
].map((text) => new TextEncoder().encode(text.replaceAll("\n", "\r\n")));

/** Returns random bytes, or a request with some of its bytes made random. */
function malform(random: Random): Uint8Array<ArrayBuffer> {
  const byte = () => random.below(256);
  if (random.below(5) === 0) {
    return Uint8Array.from(random.list(random.below(300), byte));
  }
  const template = random.pick(TEMPLATES);
  const length = random.below(1.5 * template.length);
  const request = template.slice(0, length);
  for (let changes = random.below(4); changes > 0; changes--) {
    request[random.below(Math.min(request.length, 100))] = byte();
  }
  return request;
}

/** Sends bytes and closes the connection, with or without reading. */
async function sendAndLeave(port: number, bytes: BlobPart, random: Random) {
  try {
    using connection = await Deno.connect({ port });
    await send(connection, bytes);
    if (random.below(2)) return; // closing with unread data sends a reset
    await connection.closeWrite();
    await receive(connection);
  } catch {
    // The server has closed it
  }
}

/** Sends one client's requests, and a valid one after every fifth. */
async function attack(port: number, client: number): Promise<void> {
  const random = new Random(SEED + client);
  for (let sent = 1; sent <= REQUESTS / CLIENTS; sent++) {
    await sendAndLeave(port, malform(random), random);
    if (sent % 5 > 0) continue;
    const valid = LAST_GET.replace(" HTTP", `?id=<${client}.${sent}> HTTP`);
    assertMatch(await exchange(port, valid), /^HTTP\/1\.1 200 .*data"$/s);
  }
}

Deno.test(
  skipIf(
    missingProc,
    `the program answers after many hostile requests (DATASENSOR_SEED=${SEED})`,
  ),
  async () => {
    await using program = await Program.start();
    const { port, pid } = program;
    const before = await countDescriptors(pid);
    const attacks = Array.from({ length: CLIENTS }, (_, i) => attack(port, i));
    await Promise.all(attacks);
    const count = () => countDescriptors(pid);
    await waitFor(`${before} open files`, count, (open) => open <= before);
    assertEquals((await program.stop()).code, 0);
    const ids = program.stdout.match(/\?id=<\d+\.\d+>/g) ?? [];
    assertEquals(ids.length, VALID_REQUESTS);
    assertEquals(new Set(ids).size, VALID_REQUESTS);
    assertEquals(program.messages, []);
    for (const { client, status } of program.requests) {
      assertEquals(client, "127.0.0.1");
      assert(["200", "204", "400", "404", "405"].includes(status), status);
    }
    assertEquals(program.stderr, "");
  },
);
