// --stdin: how the program reads any kind of standard input.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { get } from "../helpers/network.ts";
import { Program } from "../helpers/program.ts";
import { missing, skipIf } from "../helpers/skip.ts";
import { delay } from "../helpers/wait.ts";

/** Returns the reading, or why there is none. */
async function read(program: Program): Promise<string> {
  const response = await get(program.url);
  const body = await response.json();
  assertEquals(response.status, typeof body === "string" ? 200 : 503);
  return typeof body === "string" ? body : body.detail;
}

Deno.test("Date minus Last-Modified is the age of a reading, with an error of up to 1 s", async () => {
  await using program = await Program.start(["--stdin"], { hasInput: true });
  for (let reading = 0; reading < 4; reading++) {
    const sent = performance.now();
    await program.write(`${reading}\n`);
    await program.waitForAnswer(`"${reading}"`);
    const arrived = performance.now();
    await delay(reading * 250); // at all times of a second
    const least = Math.max(0, performance.now() - arrived - 1000);
    const { headers } = await get(program.url, { method: "HEAD" });
    const time = (name: string) => Date.parse(headers.get(name)!);
    const age = time("date") - time("last-modified");
    const most = performance.now() - sent + 1000;
    assert(least <= age && age <= most, `${least} <= ${age} <= ${most}`);
  }
});

/** Makes the standard input of a command non-blocking. */
const NON_BLOCKING = `import os, sys
os.set_blocking(0, False)
os.execvp(sys.argv[1], sys.argv[1:])`;

Deno.test(
  skipIf(missing("python3"), "the program reads a pipe that is not blocking"),
  async () => {
    const wrap = ["python3", "-c", NON_BLOCKING];
    const options = { hasInput: true, wrap };
    await using program = await Program.start(["--stdin"], options);
    for (const reading of ["21.5", "22"]) {
      await program.write(`${reading}\n`);
      await program.waitForAnswer(`"${reading}"`);
    }
    assertEquals(program.messages, []);
  },
);

Deno.test("the program answers while a sensor prints nonsense as fast as it can", async () => {
  const wrap = ["sh", "-c", `yes '21,5' | "$@"`, "sh"];
  const options = { wrap, killGroup: true };
  await using program = await Program.start(["--stdin", "--json"], options);
  await program.waitForLines(1);
  const invalid =
    "The sensor has sent only invalid lines so far; the log shows one";
  for (let i = 0; i < 40; i++) assertEquals(await read(program), invalid);
  const [warning, ...others] = program.messages;
  assertMatch(warning!, /^WARN Dropping lines that are not JSON/);
  assertEquals(others, []);
});

Deno.test("the program without --stdin warns once of lines, and does not end who prints them", async () => {
  await using program = await Program.start([], { hasInput: true });
  await program.waitForAnswer(); // an empty pipe neither holds it up nor is reported
  assertEquals(program.messages, []);
  await program.write("21.5\n");
  await program.waitForLines(2);
  for (const line of ["22\n", "23\n"]) await program.write(line); // no EPIPE
  await program.waitForAnswer();
  assertEquals((await program.stop()).code, 0);
  assertEquals(program.messages, [
    "WARN Lines arrive on standard input, but --stdin is not set",
  ]);
});
