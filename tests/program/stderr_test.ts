// A standard error that nobody reads never blocks the program. Without --quiet,
// Deno itself would log there, with blocking writes.

import { assertEquals } from "@std/assert";
import { cancel, Http2Connection, request } from "../helpers/http2.ts";
import { receive } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { WITH_FULL_STDERR } from "../helpers/console.ts";

/** Opens and resets streams, which Deno would log. */
async function resetStreams(port: number): Promise<void> {
  using connection = await Http2Connection.open(port);
  const streams = Array.from({ length: 100 }, (_, index) => 2 * index + 1);
  await connection.send(...streams.flatMap((id) => [request(id), cancel(id)]));
  await receive(connection.connection).catch(() => {}); // it may be reset
}

Deno.test("the program answers and stops while its standard error is full", async () => {
  const wrap = ["sh", "-c", WITH_FULL_STDERR, "sh"];
  await using program = await Program.start([], { wrap });
  const { port } = program;
  await Promise.all(Array.from({ length: 50 }, () => resetStreams(port)));
  await program.waitForAnswer();
  assertEquals((await program.stop("SIGINT")).code, 0);
});
