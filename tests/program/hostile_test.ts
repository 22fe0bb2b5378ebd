// Random bytes and resets at the running program: none keeps it from answering, leaks a
// descriptor or forges a line.

import { assertEquals, assertMatch } from "@std/assert";
import { exchange, LAST_GET, receive, send } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { Random } from "../helpers/random.ts";
import { testWith } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

const CLIENTS = 16;
const REQUESTS = 125; // of each client, and a valid one after every fifth
const REQUEST = new TextEncoder().encode(
  "POST http://[::1/datasensor?b=%zz HTTP/1.1\r\nHost: a/b?c\r\nUpgrade: websocket\r\n" +
    "Connection: Upgrade\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
);

/** Returns the start of a request with some of its bytes, or all, made random. */
function malform(random: Random): Uint8Array<ArrayBuffer> {
  const odds = random.pick([1, 30, 100, 1000]);
  return REQUEST.slice(0, random.below(2 * REQUEST.length))
    .map((byte) => random.below(odds) ? byte : random.below(256));
}

/** Sends bytes and closes the connection, with or without reading. */
async function sendAndLeave(port: number, bytes: BlobPart, random: Random) {
  using connection = await Deno.connect({ port });
  await send(connection, bytes);
  if (random.below(2)) return; // closing with unread data sends a reset
  await connection.closeWrite();
  await receive(connection);
}

testWith("ss")("the program answers after many hostile requests", async () => {
  await using program = await Program.start();
  const { port } = program;
  const files = () => program.countFiles();
  const before = await files();
  await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
    const random = new Random(client);
    for (let sent = 1; sent <= REQUESTS; sent++) {
      await sendAndLeave(port, malform(random), random).catch(() => {}); // it is closed
      if (sent % 5 > 0) continue;
      const valid = LAST_GET.replace(" HTTP", `?id=<${client}.${sent}> HTTP`);
      assertMatch(await exchange(port, valid), /^HTTP\/1\.1 200 .*data"$/s);
    }
  }));
  await waitFor("fewer files", files, (open) => open <= before);
  assertEquals((await program.stop()).code, 0);
  const ids = program.stdout.match(/\?id=<\d+\.\d+>/g) ?? [];
  assertEquals(new Set(ids).size, CLIENTS * REQUESTS / 5);
  assertEquals([ids.length, program.messages], [CLIENTS * REQUESTS / 5, []]);
  const isForged = (line: string) =>
    !/^127\.0\.0\.1 \S+ \S+ (200|204|4\d\d)$/.test(line);
  assertEquals(program.requests.filter(isForged), []);
  assertEquals(program.stderr, "");
});
