// --stdin: how the program reads any kind of standard input.

import { assert, assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { missingCommand, testUnless } from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { nonBlocking, Program, programCommand } from "../helpers/program.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";

/** Returns the reading, or why there is none. */
async function read(program: Program): Promise<string> {
  const response = await get(program.url);
  const body = await response.json();
  assertEquals(response.status, typeof body === "string" ? 200 : 503);
  return typeof body === "string" ? body : body.detail;
}

Deno.test("the program serves the last line of its standard input", async () => {
  await using program = await Program.start(["--stdin"], { hasInput: true });
  assertEquals(await read(program), "The sensor has sent no reading so far");
  const before = Math.floor(Date.now() / 1000) * 1000;
  await program.write("21.5\n22 °C\r\n\n");
  await program.waitForAnswer('"22 °C"');
  const { headers } = await get(program.url, { method: "HEAD" });
  const time = Date.parse(headers.get("last-modified")!);
  assert(before <= time && time <= Date.now(), `${time}`);
  await program.write("23.5\n");
  await program.waitForAnswer('"23.5"');
  // Without delay, although a read is pending
  assertEquals((await program.stop("SIGTERM", 1500)).code, 0);
  assert(!program.stdout.includes("°C"), "A reading is logged");
  assertEquals(program.stderr, "");
});

Deno.test("the program keeps reading a FIFO while its writers come and go", async () => {
  using folder = await Folder.create();
  const fifo = `${folder.path}/sensor`;
  assertEquals((await output("mkfifo", [fifo])).code, 0);
  const wrap = ["sh", "-c", 'exec "$@" <>"$0"', fifo];
  await using program = await Program.start(["--stdin"], { wrap });
  for (const reading of ["21.5", "22"]) {
    await Deno.writeTextFile(fifo, `${reading}\n`);
    await program.waitForAnswer(`"${reading}"`);
  }
  await program.stop();
  assert(!program.stdout.includes("WARN"), program.stdout);
});

testUnless(
  await missingCommand("python3"),
  "a pipe that is not blocking is read, with Deno 2.8.3 or newer",
  async () => {
    const options = { hasInput: true, wrap: nonBlocking(0) };
    await using program = await Program.start(["--stdin"], options);
    for (const reading of ["21.5", "22"]) {
      await program.write(`${reading}\n`);
      await program.waitForAnswer(`"${reading}"`);
    }
    assertEquals(program.stdout.match(/WARN.*/g), null);
  },
);

Deno.test("the program answers while a sensor prints nonsense as fast as it can", async () => {
  const wrap = ["sh", "-c", `yes '[' | "$@"`, "sh"];
  const options = { wrap, killGroup: true };
  await using program = await Program.start(["--stdin", "--json"], options);
  await program.waitForLines(1);
  for (let count = 0; count < 40; count++) {
    const invalid = "The sensor has sent only invalid lines so far";
    assertEquals(await read(program), invalid);
  }
  assertEquals(program.lines.filter((line) => !line.endsWith(" 503 -")), [
    'WARN Dropping lines that are not JSON, such as "["',
  ]);
});

const ENDED = "The sensor has sent no reading, and the input has ended";

const INPUTS: [input: string, redirection: string, reading: string][] = [
  ["nothing", "</dev/null", ENDED],
  ["a closed descriptor", "<&-", ENDED],
  ["a file", "<deno.json", "}"],
];

for (const [input, redirection, reading] of INPUTS) {
  Deno.test(`the program accepts ${input} as standard input`, async () => {
    const wrap = ["sh", "-c", `exec "$@" ${redirection}`, "sh"];
    await using program = await Program.start(["--stdin"], { wrap });
    assertEquals(await program.waitForLines(1), [
      "WARN The input has ended: no new readings will arrive",
    ]);
    assertEquals(await read(program), reading);
    assertEquals((await program.stop()).code, 0);
  });
}

testUnless(
  await missingTerminal(),
  "the program serves a line typed on a terminal, and colors its warnings there",
  async () => {
    const run = programCommand(["--port", "0", "--stdin"]).flat();
    const env = { NO_COLOR: "" };
    await using program = new Program(...onTerminal(run, "", env));
    await program.waitUntilListening();
    await program.write("21.5\r");
    await program.waitForAnswer('"21.5"');
    await program.write("\x04"); // Ctrl+D
    const warning = "WARN The input has ended: no new readings will arrive";
    const colored = `\x1b[33m${warning}\x1b[0m`;
    await program.waitFor(() => program.lines.includes(colored));
    await program.write("\x03"); // Ctrl+C
    assertEquals((await program.waitForEnd()).code, 0);
  },
);
