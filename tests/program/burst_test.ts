// Requests that end at the same moment, so that one turn of the event loop logs
// them all: none of their lines is dropped.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import {
  concat,
  encodeFields,
  frame,
  Http2Connection,
  request,
  TYPE,
  WHOLE,
} from "../helpers/http2.ts";
import { send } from "../helpers/network.ts";
import { command, Program } from "../helpers/program.ts";

/** Runs the program on a file, and returns the ids that it logged, sorted. */
async function loggedIds(
  count: number,
  burst: (
    port: number,
    program: Program,
    held: DisposableStack,
  ) => Promise<void>,
): Promise<string[]> {
  using folder = await Folder.create();
  using held = new DisposableStack();
  const file = `${folder.path}/log`;
  const start = command(["--port", "0"]).flat();
  await using program = Program.appendingTo(file, start);
  await burst(await program.portIn(file), program, held);
  const log = () => Deno.readTextFileSync(file);
  await program.waitFor(() => log().split(" 404 -").length > count);
  assertEquals((await program.stop()).code, 0);
  assertEquals(log().match(/WARN.*/)?.[0], undefined);
  return [...log().matchAll(/"GET \/(\d+)\//g)].map(([, id]) => id!).sort();
}

/** Holds the program while all is sent, so that it receives it at once. */
async function sendAtOnce(
  program: Program,
  parts: [connection: Deno.Conn, bytes: Uint8Array][],
): Promise<void> {
  program.kill("SIGSTOP");
  await Promise.all(parts.map((part) => send(...part)));
  program.kill("SIGCONT");
}

/** Returns the ids from 0 to a count, sorted as text. */
function ids(count: number): string[] {
  return Array.from({ length: count }, (_, id) => `${id}`).sort();
}

Deno.test("the program logs each of 500 long requests that end at once", async () => {
  const count = 500;
  const encoder = new TextEncoder();
  const logged = await loggedIds(count, async (port, program, stack) => {
    const open = async (_: unknown, id: number) => {
      const connection = stack.use(await Deno.connect({ port }));
      const start = `GET /${id}/${"x".repeat(60_000)}`;
      await send(connection, encoder.encode(start));
      return connection;
    };
    const opened = await Promise.all(Array.from({ length: count }, open));
    const end = encoder.encode(" HTTP/1.1\r\nHost: board\r\n\r\n");
    await sendAtOnce(program, opened.map((connection) => [connection, end]));
  });
  assertEquals(logged, ids(count));
});

Deno.test("the program logs each of 200 requests over 100 HTTP/2 connections", async () => {
  const [connectionCount, streamCount] = [100, 200];
  const count = connectionCount * streamCount;
  const logged = await loggedIds(count, async (port, program, stack) => {
    const connections = await Promise.all(
      Array.from({ length: connectionCount }, () => Http2Connection.open(port)),
    );
    for (const connection of connections) stack.use(connection).drain();
    const burst = (index: number) =>
      concat(Array.from({ length: streamCount }, (_, stream) => {
        const id = index * streamCount + stream;
        const fields = encodeFields(request(`/${id}/`));
        return frame(TYPE.HEADERS, WHOLE, 2 * stream + 1, fields);
      }));
    await sendAtOnce(
      program,
      connections.map(({ connection }, index) => [connection, burst(index)]),
    );
  });
  assertEquals(logged, ids(count));
});
