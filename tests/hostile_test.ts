import { assertEquals, assertMatch } from "@std/assert";
import {
  countDescriptors,
  exchange,
  Program,
  send,
  waitFor,
} from "./helpers/program.ts";

/** How many requests are sent at least, malformed and well-formed. */
const REQUESTS = 20_000;

/** Creates a generator of numbers from 0 up to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SEEDS = [
  "GET /datasensor HTTP/1.1\r\nHost: board\r\n\r\n",
  "GET /datasensor HTTP/1.1\r\nHost: bad host^\r\n\r\n",
  "GET /datasensor HTTP/1.1\r\nHost: a/b?c#d\\e@f:g\r\n\r\n",
  "GET http://[::1/datasensor HTTP/1.1\r\nHost: board\r\n\r\n",
  "CONNECT board:80 HTTP/1.1\r\nHost: board\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: board\r\n\r\n",
  `GET /${"a".repeat(60_000)} HTTP/1.1\r\nHost: board\r\n\r\n`,
  "GET /%ff%c0%af%zz HTTP/1.1\r\nHost: board\r\n\r\n",
  "POST /datasensor HTTP/1.1\r\nHost: board\r\nContent-Length: 5\r\n\r\nabcde",
  "POST /datasensor HTTP/1.1\r\nHost: board\r\n" +
  "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
  "GET /datasensor HTTP/1.1\r\nHost: board\r\nUpgrade: websocket\r\n" +
  "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
].map((text) => new TextEncoder().encode(text));

/** Makes random bytes, or a request with some of its bytes made random. */
function malform(random: () => number): Uint8Array<ArrayBuffer> {
  const byte = () => Math.floor(random() * 256);
  if (random() < 0.2) {
    return Uint8Array.from({ length: Math.floor(random() * 300) }, byte);
  }
  const seed = SEEDS[Math.floor(random() * SEEDS.length)]!;
  const request = seed.slice(0, Math.ceil(random() * 1.5 * seed.length));
  for (let changes = Math.floor(random() * 4); changes > 0; changes--) {
    request[Math.floor(random() * Math.min(request.length, 100))] = byte();
  }
  return request;
}

/** Sends bytes and goes away, with or without reading what comes back. */
async function throwAt(port: number, bytes: Uint8Array, random: () => number) {
  try {
    using connection = await Deno.connect({ port });
    await send(connection, bytes);
    if (random() < 0.5) return; // unread data makes it a reset
    await connection.closeWrite();
    const buffer = new Uint8Array(64 * 1024);
    while (await connection.read(buffer) !== null);
  } catch {
    // Closed by the server
  }
}

Deno.test("the program answers after thousands of hostile requests", async () => {
  const seed = Date.now() % 2 ** 31;
  const random = createRandom(seed);
  await using program = await Program.start();
  const { port, pid } = program;
  const isAnswer = (response: string) => response.endsWith('"Sensor data"');
  const ask = (id: string) =>
    exchange(
      port,
      `GET /datasensor?id=${id} HTTP/1.1\r\nHost: board\r\n\r\n`,
      isAnswer,
    );
  await ask("first");
  const before = await countDescriptors(pid);

  let sent = 0;
  const ids: string[] = [];
  const throwMany = async () => {
    while (sent++ < REQUESTS) {
      await throwAt(port, malform(random), random);
      if (sent % 5 > 0) continue;
      const id = `<${sent}>`;
      ids.push(id);
      assertMatch(await ask(id), /^HTTP\/1\.1 200 /, `seed ${seed}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, throwMany));

  await ask("last");
  await waitFor(
    async () => await countDescriptors(pid) === before,
    () => `Descriptors are left open, seed ${seed}`,
  );
  assertEquals((await program.stop()).code, 0);
  const logged = program.lines.map((line) => line.match(/\?id=(<\d+>) /)?.[1])
    .filter((id) => id !== undefined);
  assertEquals(logged.sort(), ids.sort(), `seed ${seed}`);
  for (const line of program.lines) {
    assertMatch(
      line,
      /^127\.0\.0\.1 - - \[[^\]]{20}\] "[!-~]+ ([!#-[\]-~]|\\["\\]|\\x[0-9a-f]{2})+(\\\.\.\.)? HTTP\/1\.1" (200|204|400|404|405) -$/,
      `seed ${seed}`,
    );
  }
  assertEquals(program.stderr, "");
});

Deno.test("the program answers thousands of pipelined requests", async () => {
  await using program = await Program.start();
  const count = 5000;
  const request = "GET /datasensor HTTP/1.1\r\nHost: board\r\n\r\n";
  const answers = /"Sensor data"/g;
  const response = await exchange(
    program.port,
    request.repeat(count),
    (text) =>
      text.length > 150 * count && text.match(answers)?.length === count,
  );
  assertEquals(response.match(/HTTP\/1\.1 200 OK/g)?.length, count);
  await program.stop();
  assertEquals(program.lines.length, count);
});
