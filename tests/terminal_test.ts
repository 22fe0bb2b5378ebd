// What the program does on a terminal only: colours, and no questions.

import { assertEquals } from "@std/assert";
import { lacksCommand, testUnless } from "./helpers/machine.ts";
import { command, Program } from "./helpers/program.ts";

/** Starts the program on a terminal of its own, which shows its id first. */
function startOnTerminal(args: string[], env?: Record<string, string>) {
  const run = command(["--port", "0", ...args]).flat();
  const words = run.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const typescript = `echo $$; exec ${words.join(" ")}`;
  return new Program("script", ["-qec", typescript, "/dev/null"], { env });
}

// Others than Linux's know other flags
const missing = Deno.build.os === "linux"
  ? await lacksCommand("script")
  : "script(1) is another one here";

testUnless(missing, "the program asks no questions on a terminal", async () => {
  await using program = startOnTerminal(["--host", "192.0.2.7"]);
  const { code } = await program.end();
  assertEquals(code, 1);
  assertEquals(program.stdout.split("\r\n").slice(1), [
    'Cannot listen on "192.0.2.7", port 0: this program has no permission for' +
    " that address",
    "Choose another address with --host, or leave it out",
    "",
  ]);
});

const WARNING = "WARN The input has ended, no new reading will come";

for (
  const [does, env, expected] of [
    ["colours its warnings on a terminal", "", `\x1b[33m${WARNING}\x1b[0m`],
    ["colours nothing where NO_COLOR is set", "1", WARNING],
  ] as const
) {
  testUnless(missing, `the program ${does}`, async () => {
    await using program = startOnTerminal(["--stdin"], { NO_COLOR: env });
    // Nothing comes on standard input
    await program.waitFor(() => program.stdout.includes("will come"));
    Deno.kill(parseInt(program.stdout), "SIGTERM");
    assertEquals((await program.end()).code, 0);
    assertEquals(program.stdout.match(/.*WARN.*/)?.[0], expected);
  });
}

Deno.test("the program colours nothing without a terminal", async () => {
  const env = { NO_COLOR: "" };
  await using program = await Program.start(["--stdin"], { env });
  assertEquals(await program.waitForLines(1), [WARNING]);
});
