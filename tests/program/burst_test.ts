// A burst of requests that one turn of the event loop logs: no line is dropped.

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
import { command, Program } from "../helpers/program.ts";

const CONNECTIONS = 100;
const STREAMS = 200; // of each connection

/** Returns the requests of a connection, with different paths. */
function requests(connection: number): Uint8Array[] {
  return Array.from({ length: STREAMS }, (_, index) => {
    const id = connection * STREAMS + index;
    const fields = encodeFields(request(`/${id}/${"x".repeat(100)}`));
    return frame(TYPE.HEADERS, WHOLE, 2 * index + 1, fields);
  });
}

Deno.test("the program logs each of 200 requests over 100 HTTP/2 connections", async () => {
  using folder = await Folder.create();
  using held = new DisposableStack();
  const file = `${folder.path}/log`;
  const run = command(["--port", "0"]).flat();
  await using program = Program.appendingTo(file, run);
  const port = await program.portIn(file);
  const opening = Array.from({ length: CONNECTIONS }, async () => {
    const connection = held.use(await Http2Connection.open(port));
    connection.drain();
    return connection;
  });
  const connections = await Promise.all(opening);
  program.kill("SIGSTOP"); // so that it receives them at once
  await Promise.all(
    connections.map((connection, index) =>
      connection.send(concat(requests(index)))
    ),
  );
  program.kill("SIGCONT");
  const log = () => Deno.readTextFileSync(file);
  const count = CONNECTIONS * STREAMS;
  await program.waitFor(() => log().split(" 404 -").length > count);
  assertEquals((await program.stop()).code, 0);
  assertEquals(log().match(/WARN.*/)?.[0], undefined);
  const ids = Array.from(log().matchAll(/"GET \/(\d+)\//g), ([, id]) => id);
  assertEquals(new Set(ids).size, count);
});
