// The console: whether it is slow, closed or a full disk, the program keeps
// answering, and counts the lines that it drops.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { CAPACITY_BYTES } from "../../src/log/line_writer.ts";
import { missingCommand, missingFile, testUnless } from "../helpers/machine.ts";
import { exchange, freePort } from "../helpers/network.ts";
import { nonBlocking, Program, programCommand } from "../helpers/program.ts";

const LINE = /^127\.0\.0\.1 - - \[[^\]]{20}\] "GET \/\d+\/ HTTP\/1\.1" 404 -$/;

/** Sends GETs with different targets, and waits for the responses. */
async function request(port: number, count: number, padding = 0) {
  const end = `/${"x".repeat(padding)} HTTP/1.1\r\nHost: board\r\n\r\n`;
  for (let sent = 0; sent < count; sent += 50) {
    const size = Math.min(50, count - sent);
    const ids = Array.from({ length: size }, (_, i) => sent + i);
    const requests = ids.map((id) => `GET /${id}${end}`).join("");
    const isLast = (text: string) => text.split("HTTP/1.1 404").length > size;
    const responses = await exchange(port, requests, isLast);
    assert(isLast(responses), "Not every request is answered");
  }
}

Deno.test("the program answers while nobody reads its console, and counts dropped lines", async () => {
  await using program = await Program.start();
  program.readDelayMs = Infinity;
  // Lines of almost 1 KiB: more than the pipe and the buffer hold
  const count = 2.5 * CAPACITY_BYTES / 1024;
  await request(program.port, count, 900);
  program.readDelayMs = 0;
  await program.waitFor(() =>
    program.lines.at(-1)?.startsWith("WARN") ?? false
  );
  const [, dropped] = program.lines.at(-1)!.match(/too slow: (\d+)/)!;
  assertEquals(program.lines.length - 1 + Number(dropped), count);
  await request(program.port, 1);
  await program.waitFor(() => program.lines.at(-1)!.includes('"GET /0/ HTTP'));
});

Deno.test("the program answers after the reader of its console has exited", async () => {
  // sed exits after the start report
  const wrap = ["bash", "-c", 'exec "$@" > >(sed /Press/q)', "bash"];
  await using program = await Program.start([], { wrap });
  await request(program.port, 500);
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.stderr, "");
});

testUnless(
  await missingCommand("python3"),
  "the program logs every request to a pipe that is not blocking",
  async () => {
    await using program = await Program.start([], { wrap: nonBlocking(1) });
    program.readDelayMs = Infinity; // until the pipe is full
    await request(program.port, 4000, 900);
    program.readDelayMs = 0;
    const ids = () =>
      program.lines.map((line) => line.match(/GET \/(\d+)/)![1]);
    await program.waitFor(() => new Set(ids()).size === 4000);
    const repeated = ids().length - 4000;
    assert(repeated < 128, `${repeated} lines are repeated`); // one batch of 64 KiB
  },
);

testUnless(
  await missingFile("/dev/full"),
  "the program answers while its console is a file on a full disk",
  async () => {
    const port = freePort(); // the start report cannot be read
    const run = programCommand(["--port", String(port)]).flat();
    const args = ["-c", 'exec "$@" >/dev/full', "sh", ...run];
    await using program = new Program("sh", args);
    await program.waitFor(() => request(port, 1).then(() => true, () => false));
    await request(port, 500);
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

Deno.test("the program logs every request that it answered before SIGTERM", async () => {
  await using program = await Program.start();
  let answered = 0;
  const clients = Array.from({ length: 20 }, async () => {
    while (true) {
      await request(program.port, 1);
      answered++;
    }
  });
  const ended = Promise.allSettled(clients); // fail once it has stopped
  await program.waitForLines(1000);
  assertEquals((await program.stop()).code, 0);
  await ended;
  assert(answered >= 1000 - 20, `${answered} responses`);
  // Each client may have lost one response
  const excess = program.lines.length - answered;
  assert(excess >= 0 && excess <= 20, `${excess} more lines than responses`);
  for (const line of program.lines) assertMatch(line, LINE);
});
