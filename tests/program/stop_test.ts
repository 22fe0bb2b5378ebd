// Ctrl+C and SIGTERM: the program completes responses and lines, within limits.

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  GET,
  getMany,
  HALF_BODY,
  HALF_HEADER,
  open,
  receive,
  waitUntilClosed,
} from "../helpers/network.ts";
import { preload, Program } from "../helpers/program.ts";

/** Makes the program wait forever for requests and its console, not 1.8 s and 0.9 s. */
const WAITING_FOREVER = {
  flags: [preload(`const timeout = AbortSignal.timeout.bind(AbortSignal);
    const never = new AbortController().signal;
    AbortSignal.timeout = (ms) => ms < 500 ? timeout(ms) : never;`)],
};

Deno.test("the program does not wait for clients without a request", async () => {
  await using program = await Program.start([], WAITING_FOREVER);
  const { port } = program;
  using _idle = await open(port, "");
  using _keptAlive = await open(port, GET);
  using _halfHeader = await open(port, HALF_HEADER);
  await program.waitForLines(1);
  assertEquals((await program.stop()).code, 0);
});

/** Fills the console without reading it, and returns the number of lines. */
async function fillConsole(program: Program): Promise<number> {
  program.pauseReading();
  const count = 1000; // of 1 KB: more than a pipe holds, less than the buffer
  await getMany(program.port, count, () => `/?${"x".repeat(900)}`);
  return count;
}

Deno.test(
  "the program writes every line to a slow console before it stops",
  async () => {
    await using program = await Program.start([], WAITING_FOREVER);
    const count = await fillConsole(program);
    program.kill("SIGTERM");
    await waitUntilClosed(program.port);
    program.resumeReading(5);
    assertEquals((await program.waitForEnd()).code, 0);
    assertEquals(program.lines.length, count);
  },
);

Deno.test("the program stops although a request never ends, and nobody reads its console", async () => {
  await using program = await Program.start();
  using _halfBody = await open(program.port, HALF_BODY);
  await program.waitForLines(1);
  await fillConsole(program);
  assertEquals((await program.stop()).code, 0);
});

Deno.test(
  "the program sends whole responses to clients that read them after SIGTERM",
  async () => {
    // JSON escapes each character as \u0001, which makes a response larger than
    // the sockets' buffers, so that one is still being sent after SIGTERM
    const message = "\x01".repeat(120_000);
    const args = ["--message", message];
    await using program = await Program.start(args, WAITING_FOREVER);
    using connection = await open(program.port, GET.repeat(10));
    await program.waitForLines(1);
    program.kill("SIGTERM");
    await waitUntilClosed(program.port);
    const [, ...responses] = (await receive(connection)).split(
      "HTTP/1.1 200 OK",
    );
    assertNotEquals(responses, []);
    for (const response of responses) {
      assertEquals(response.split("\r\n\r\n")[1]?.length, 6 * 120_000 + 2);
    }
    assertEquals((await program.waitForEnd()).code, 0);
    assert(program.lines.length >= responses.length, "A line is missing");
  },
);
