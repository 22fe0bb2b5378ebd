// Consoles that are slow or fail: the program keeps answering, and counts the lines that it
// drops.

import { assertEquals } from "@std/assert";
import { CAPACITY_CHARACTERS } from "../../src/log/line_writer.ts";
import { cancel, Http2Connection, request } from "./http2.ts";
import { getMany, receive } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

/** Returns a target whose line in the access log is almost 1 KiB long. */
const longTarget = (number: number) => `/${number}/${"x".repeat(900)}`;

Deno.test("the program answers while nobody reads its console, and counts dropped lines", async () => {
  await using program = await Program.start();
  program.pauseReading();
  const count = 2.5 * CAPACITY_CHARACTERS / 1024; // more than pipe and buffer hold
  await getMany(program.port, count, longTarget);
  program.resumeReading();
  const last = () => program.lines.at(-1) ?? "";
  const isCount = (line: string) => line.startsWith("WARN");
  const line = await waitFor("the count as the last line", last, isCount);
  const [, dropped] = line.match(/too slow: (\d+)/)!;
  assertEquals(program.lines.length - 1 + Number(dropped), count);
});

Deno.test(
  skipIf(
    missing("ss"),
    "the program answers and stops while its console is a full disk",
  ),
  async () => {
    const run = programCommand(["--port", "0"]).flat();
    const script = 'exec "$@" >/dev/full';
    await using program = new Program("sh", ["-c", script, "sh", ...run]);
    // The start report cannot be read
    const list = () => output("ss", ["-Hltnp"]).then(({ stdout }) => stdout);
    const line = RegExp(`:(\\d+) .*pid=${program.pid},`);
    const sockets = await waitFor("its port", list, (it) => line.test(it));
    await getMany(Number(sockets.match(line)![1]), 500);
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

/** Runs a command with a full, unread pipe as standard error. */
const WITH_FULL_STDERR = `
  pipe=$(mktemp -u)
  mkfifo "$pipe"
  exec 3<>"$pipe"
  rm "$pipe"
  dd if=/dev/zero of=/dev/fd/3 bs=4096 oflag=nonblock 2>/dev/null
  exec "$@" 2>&3 3>&-`;

/** Opens and resets streams, which Deno would log on standard error. */
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
