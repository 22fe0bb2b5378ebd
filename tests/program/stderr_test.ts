// A standard error that nobody reads never blocks the program. Without --quiet,
// Deno itself would log there, with blocking writes.

import { assertEquals } from "@std/assert";
import project from "../../deno.json" with { type: "json" };
import { cancel, Http2Connection, request } from "../helpers/http2.ts";
import {
  getDenoFlags,
  Program,
  programCommand,
  WITH_FULL_STDERR,
} from "../helpers/program.ts";

/** Opens and resets streams, which Deno would log. */
async function resetStreams(port: number): Promise<void> {
  using connection = await Http2Connection.open(port);
  const streams = Array.from({ length: 100 }, (_, index) => 2 * index + 1);
  await connection.send(...streams.flatMap((id) => [request(id), cancel(id)]));
  await connection.ended;
}

/** Attacks, uses and stops a program whose standard error is full. */
async function attack(command: string[]): Promise<void> {
  const args = ["sh", ...command, "--port", "0"];
  await using program = new Program("sh", ["-c", WITH_FULL_STDERR, ...args]);
  await program.waitUntilListening();
  const { port } = program;
  await Promise.all(Array.from({ length: 50 }, () => resetStreams(port)));
  await program.waitForAnswer();
  assertEquals((await program.stop("SIGINT")).code, 0);
}

Deno.test("the program answers and stops while its standard error is full", () =>
  attack(programCommand([]).flat()));

Deno.test("the program answers and stops in `deno task dev` while its standard error is full", () => {
  // The command itself, without deno task and its shell
  const words = project.tasks.dev.command
    .replace("$(deno task -q _service_flags)", getDenoFlags().join(" "))
    .replace("deno run", `${Deno.execPath()} run`).split(" ");
  return attack(words);
});
