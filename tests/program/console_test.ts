// The console: a reader that is slow, gone or full stops nothing and loses nothing
// unsaid.

import { assertEquals, assertMatch } from "@std/assert";
import { CAPACITY } from "../../src/line_writer.ts";
import { lacksFile, testUnless } from "../helpers/machine.ts";
import { exchange, freePort } from "../helpers/network.ts";
import { command, findAddresses, Program } from "../helpers/program.ts";

const LINE = /^127\.0\.0\.1 - - \[[^\]]{20}\] "GET \/\d+\/ HTTP\/1\.1" 404 -$/;

/** Sends GETs, each with a target of its own, and counts the answers 404. */
async function ask(port: number, count: number, padding = 0): Promise<number> {
  const requests = Array.from(
    { length: count },
    (_, index) =>
      `GET /${index}/${"x".repeat(padding)} HTTP/1.1\r\nHost: board\r\n\r\n`,
  );
  let answers = 0;
  for (let first = 0; first < count; first += 50) {
    const batch = requests.slice(first, first + 50);
    const isAnswer = /HTTP\/1\.1 404/g;
    const response = await exchange(
      port,
      batch.join(""),
      (text) => text.match(isAnswer)?.length === batch.length,
    );
    answers += response.match(isAnswer)?.length ?? 0;
  }
  return answers;
}

Deno.test("the program answers while nobody reads its console", async () => {
  await using program = await Program.start();
  program.pause();
  // Of almost 1 KiB each: more than the pipe and the buffer hold
  const count = 2.5 * CAPACITY / 1024;
  assertEquals(await ask(program.port, count, 900), count);
  program.resume();
  await program.waitFor(() =>
    program.lines.at(-1)?.startsWith("WARN") ?? false
  );
  const [, dropped] = program.lines.at(-1)!.match(/Dropped (\d+) log lines/)!;
  assertEquals(program.lines.length - 1 + Number(dropped), count);
  assertEquals(await ask(program.port, 1), 1);
  await program.waitFor(() => program.lines.at(-1)!.includes('"GET /0/ HTTP'));
});

Deno.test("the program answers when the reader of its console is gone", async () => {
  await using program = await Program.start();
  program.closeConsole();
  await ask(program.port, 1);
  await program.waitFor(() => program.consoleIsClosed);
  assertEquals(await ask(program.port, 500), 500);
  assertEquals((await program.stop()).code, 0);
});

testUnless(
  await lacksFile("/dev/full"),
  "the program answers while the disk of its console is full",
  async () => {
    // The report cannot be read, so neither can the address: tell it one
    const port = freePort();
    const args = command(["--port", String(port)]).flat();
    await using program = Program.appendingTo("/dev/full", args);
    await program.waitFor(() => ask(port, 1).then(() => true, () => false));
    assertEquals(await ask(port, 500), 500);
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  },
);

Deno.test("the program logs each of many requests over 50 connections", async () => {
  await using program = await Program.start();
  await Promise.all(Array.from({ length: 50 }, () => ask(program.port, 200)));
  await program.stop();
  assertEquals(program.lines.length, 50 * 200);
  for (const line of program.lines) assertMatch(line, LINE);
});

Deno.test("the program logs every request that it answered before SIGTERM", async () => {
  await using program = await Program.start();
  const answers = Array.from({ length: 20 }, async () => {
    let count = 0;
    try {
      for (;;) count += await ask(program.port, 1);
    } catch {
      return count; // it is gone
    }
  });
  await program.waitForLines(1000);
  const { code } = await program.stop();
  assertEquals(code, 0);
  const answered = (await Promise.all(answers)).reduce((a, b) => a + b);
  assertEquals(answered >= 1000 - 20, true);
  // A request may be handled and its answer still be lost, one a connection
  assertEquals(program.lines.length >= answered, true);
  assertEquals(program.lines.length <= answered + 20, true);
  for (const line of program.lines) assertMatch(line, LINE);
});

Deno.test("two programs that append to one file keep their lines whole", async () => {
  const file = await Deno.makeTempFile();
  const start = () =>
    Program.appendingTo(file, command(["--port", "0"]).flat());
  try {
    await using first = start();
    await using second = start();
    const read = () => Deno.readTextFileSync(file);
    const ports = () =>
      findAddresses(read()).map((url) => new URL(url))
        .filter(({ hostname }) => hostname === "127.0.0.1")
        .map(({ port }) => Number(port));
    await first.waitFor(() => ports().length === 2);
    await Promise.all(ports().map((port) => ask(port, 5000)));
    await Promise.all([first.stop(), second.stop()]);
    const lines = read().split("\n").filter((line) =>
      line.includes("HTTP/1.1")
    );
    assertEquals(lines.length, 2 * 5000);
    for (const line of lines) assertMatch(line, LINE);
  } finally {
    await Deno.remove(file);
  }
});
