// An uncaught error: the program exits with 1 once all lines are written.

import { assertEquals, assertMatch } from "@std/assert";
import { exchange } from "../helpers/network.ts";
import { command, preload, Program } from "../helpers/program.ts";
import { GET } from "../helpers/requests.ts";

const COUNT = 500;

/** Makes the program fail on SIGUSR1. */
const FAIL = (statement: string) =>
  preload(`Deno.addSignalListener("SIGUSR1", () => {
    const error = new TypeError("Unforeseen");
    ${statement};
  });`);

const STATEMENTS = {
  "an uncaught error": "setTimeout(() => { throw error; })",
  "an unhandled rejection": "Promise.reject(error)",
};

for (const [kind, statement] of Object.entries(STATEMENTS)) {
  for (const isFull of [false, true]) {
    const stderr = isFull ? "full" : "read";
    Deno.test(`the program logs every line and exits with 1 after ${kind} (standard error is ${stderr})`, async () => {
      // Pipes that nobody else writes to or reads
      const script = `
        for fd in 3 4; do
          pipe=$(mktemp -u) && mkfifo "$pipe" && eval "exec $fd<>$pipe"
          rm "$pipe"
        done
        ${isFull ? "exec 2>&4; head -c 65536 /dev/zero >&2" : "exec 2>&1"}
        exec "$@" <&3 3>&- 4>&-`;
      const args = ["--port", "0", "--stdin"]; // a pending read
      const run = command(args, [FAIL(statement)]).flat();
      await using program = new Program("sh", ["-c", script, "sh", ...run]);
      await program.listening();
      const isAll = (text: string) => text.split("HTTP/1.1 503").length > COUNT;
      await exchange(program.port, GET.repeat(COUNT), isAll);
      program.kill("SIGUSR1");
      assertEquals((await program.end()).code, 1);
      const { lines } = program;
      const isResponse = (line: string) => line.endsWith(" 503 -");
      assertEquals(lines.slice(0, COUNT).filter(isResponse).length, COUNT);
      const rest = lines.slice(COUNT).join("\n");
      assertMatch(rest, isFull ? /^$/ : /^TypeError: Unforeseen\n +at /);
    });
  }
}
