// Errors that no handler expects: a request is answered like other errors, and
// elsewhere, the program exits with 1, once all lines are written.

import { assertEquals, assertMatch } from "@std/assert";
import { get, getMany } from "../helpers/network.ts";
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

Deno.test("the program answers 500 with problem details if it cannot even read a request", async () => {
  const failing = `Object.defineProperty(Request.prototype, "url", {
    get() { throw new TypeError("Unforeseen"); },
  });`;
  const flags = [preload(failing)];
  await using program = await Program.start(["--cors"], { flags });
  const { status, headers, body } = await get(program.url);
  await body?.cancel();
  assertEquals(status, 500);
  assertEquals(headers.get("content-type"), "application/problem+json");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("access-control-allow-origin"), "*");
  const [error] = await program.waitForLines(1);
  assertEquals(error, "ERROR The handler failed: TypeError: Unforeseen");
});
