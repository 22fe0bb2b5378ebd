// Requests that end at the same moment, so that all their lines come in one
// turn of the program's event loop: each has its line all the same.

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

/** Runs the program with a file as its console, and returns the ids it logged. */
async function loggedIds(
  burst: (port: number, program: Program) => Promise<void>,
): Promise<string[]> {
  using folder = await Folder.create();
  const file = `${folder.path}/log`;
  const start = command(["--port", "0"]).flat();
  await using program = Program.appendingTo(file, start);
  await burst(await program.portIn(file), program);
  assertEquals((await program.stop()).code, 0);
  const log = await Deno.readTextFile(file);
  assertEquals(log.match(/WARN.*/)?.[0], undefined);
  return [...log.matchAll(/"GET \/(\d+)\//g)].map(([, id]) => id!);
}

/** Holds the program while something is sent, so that it gets all at once. */
async function atOnce(
  program: Program,
  sending: () => Promise<unknown>,
): Promise<void> {
  program.kill("SIGSTOP");
  await sending();
  program.kill("SIGCONT");
}

/** The ids of so many requests, in the order in which texts are sorted. */
function ids(count: number): string[] {
  return Array.from({ length: count }, (_, id) => `${id}`).sort();
}

Deno.test("the program logs each of 500 long requests that end at once", async () => {
  const count = 500;
  const encoder = new TextEncoder();
  const logged = await loggedIds(async (port, program) => {
    using stack = new DisposableStack();
    const connections = await Promise.all(
      Array.from(
        { length: count },
        async () => stack.use(await Deno.connect({ port })),
      ),
    );
    await Promise.all(connections.map((connection, id) => {
      const start = `GET /${id}/${"x".repeat(60_000)}`;
      return send(connection, encoder.encode(start));
    }));
    await atOnce(program, () => {
      const end = encoder.encode(" HTTP/1.1\r\nHost: board\r\n\r\n");
      return Promise.all(
        connections.map((connection) => send(connection, end)),
      );
    });
    let answers = 0;
    for (const connection of connections) {
      connection.read(new Uint8Array(1)).then(() => answers++, () => {});
    }
    await program.waitFor(() => answers === count);
  });
  assertEquals(logged.sort(), ids(count));
});

Deno.test("the program logs each of 200 requests over 100 HTTP/2 connections", async () => {
  const [connectionCount, streamCount] = [100, 200];
  const logged = await loggedIds(async (port, program) => {
    using stack = new DisposableStack();
    const connections = await Promise.all(
      Array.from(
        { length: connectionCount },
        async () => stack.use(await Http2Connection.open(port)),
      ),
    );
    await atOnce(
      program,
      () =>
        Promise.all(connections.map((connection, index) => {
          const first = index * streamCount;
          return connection.send(concat(
            Array.from({ length: streamCount }, (_, stream) => {
              const block = encodeFields(request(`/${first + stream}/`));
              return frame(TYPE.HEADERS, WHOLE, 2 * stream + 1, block);
            }),
          ));
        })),
    );
    for (const connection of connections) {
      for (let stream = 0; stream < streamCount; stream++) {
        assertEquals(await connection.answer(2 * stream + 1), 404);
      }
    }
  });
  assertEquals(logged.sort(), ids(connectionCount * streamCount));
});
