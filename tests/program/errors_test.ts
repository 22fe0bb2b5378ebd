// Unexpected errors: the program answers 500 if its handler fails, and exits with 1
// after an uncaught error, once all lines are written.

import { assertEquals, assertMatch } from "@std/assert";
import { getMany } from "../helpers/network.ts";
import { preload, Program, WITH_FULL_STDERR } from "../helpers/program.ts";

Deno.test("the program answers 500 and logs the stack if its handler fails", async () => {
  const fail = `() => { throw new TypeError("On fire"); }`;
  const flags = [preload(`Response.prototype.clone = ${fail};`)];
  await using program = await Program.start([], { flags });
  await getMany(program.port, 1);
  await program.stop();
  const log = program.lines.join("\n");
  assertMatch(log, /^ERROR .* On fire\nDEBUG .* On fire\n {4}at /);
  assertMatch(log, /"GET \/datasensor HTTP\/1\.1" 500 -$/);
});

/**
 * Makes an error happen after requests, and asserts that each of them is logged and
 * that the program exits with 1. Returns what follows the access log.
 */
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
  const isAccessLine = (line: string) => line.endsWith(" 503 -");
  assertEquals(program.lines.filter(isAccessLine).length, 500);
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
