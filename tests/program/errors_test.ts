// Errors that no handler expects: the program exits with 1, once all lines are written.
// interface_test.ts has those of a handler, which are answered.

import { assertEquals, assertMatch } from "@std/assert";
import { getMany } from "../helpers/network.ts";
import { preload, Program } from "../helpers/program.ts";
import { WITH_FULL_STDERR } from "../helpers/console.ts";

/** Makes an error happen after requests, and returns what follows the access log. */
async function fail(statement: string, script: string): Promise<string> {
  const failOnSignal = `Deno.addSignalListener("SIGUSR1", () => {
    const error = new TypeError("Unforeseen");
    ${statement};
  });`;
  await using program = await Program.start(["--stdin"], {
    wrap: ["sh", "-c", script, "sh"],
    flags: [preload(failOnSignal)],
    hasInput: true, // a pending read
  });
  await getMany(program.port, 500);
  program.kill("SIGUSR1");
  assertEquals((await program.waitForEnd()).code, 1);
  const answered = program.requests.filter(({ status }) => status === "503");
  assertEquals(answered.length, 500);
  return program.lines.slice(500).join("\n");
}

Deno.test("the program logs every line, then an uncaught error, and exits with 1", async () => {
  const statement = "setTimeout(() => { throw error; })";
  const rest = await fail(statement, 'exec "$@" 2>&1');
  assertMatch(rest, /^TypeError: Unforeseen\n +at /);
});

Deno.test("the program logs every line and exits with 1 after an unhandled rejection while standard error is full", async () => {
  assertEquals(await fail("Promise.reject(error)", WITH_FULL_STDERR), "");
});
