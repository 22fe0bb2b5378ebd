// --stdin: how the program reads any kind of standard input.

import { assert, assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import {
  missingCommand,
  missingFile,
  residentMemory,
  testUnless,
} from "../helpers/machine.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { nonBlocking, Program, programCommand } from "../helpers/program.ts";
import { missingTerminal, onTerminal } from "../helpers/terminal.ts";

const ENDED = "WARN The input has ended: no new readings will arrive";
const NOTHING = "The sensor has sent no reading yet";
const INVALID = "The sensor has sent only invalid lines so far";

/** Starts the program with a pipe as its standard input. */
function startWithPipe(...args: string[]): Promise<Program> {
  return Program.start(["--stdin", ...args], { hasInput: true });
}

/** Returns the reading, or why there is none. */
async function read(program: Program): Promise<string> {
  const response = await get(program.url);
  const body = await response.json();
  assertEquals(response.status, typeof body === "string" ? 200 : 503);
  return typeof body === "string" ? body : body.detail;
}

async function waitForReading(program: Program, text: string): Promise<void> {
  await program.waitFor(async () => await read(program) === text);
}

Deno.test("the program serves the last line of its standard input", async () => {
  await using program = await startWithPipe();
  assertEquals(await read(program), NOTHING);
  const before = Math.floor(Date.now() / 1000) * 1000;
  await program.write("21.5\n22 °C\r\n\n");
  await waitForReading(program, "22 °C");
  const { headers } = await get(program.url, { method: "HEAD" });
  assertEquals(headers.get("content-length"), `${'"22 °C"'.length + 1}`);
  const time = Date.parse(headers.get("last-modified")!);
  assert(before <= time && time <= Date.now(), `${time}`);
  await program.write("23.5\n");
  await waitForReading(program, "23.5");
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
    await waitForReading(program, reading);
  }
  await program.stop();
  assert(!program.stdout.includes("WARN"), program.stdout);
});

testUnless(
  await missingCommand("python3"),
  "the program reads a pipe that is not blocking",
  async () => {
    const options = { hasInput: true, wrap: nonBlocking(0) };
    await using program = await Program.start(["--stdin"], options);
    for (const reading of ["21.5", "22"]) {
      await program.write(`${reading}\n`);
      await waitForReading(program, reading);
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
    assertEquals(await read(program), INVALID);
  }
  const warnings = program.stdout.match(/WARN.*/g);
  assertEquals(warnings, [
    'WARN Dropping lines that are not JSON, such as "["',
  ]);
});

const INPUTS: [input: string, redirection: string, reading: string][] = [
  ["nothing", "</dev/null", NOTHING],
  ["a closed descriptor", "<&-", NOTHING],
  ["a file", "<deno.json", "}"],
  ["a folder", "<src", NOTHING],
];

for (const [input, redirection, reading] of INPUTS) {
  Deno.test(`the program accepts ${input} as standard input`, async () => {
    const wrap = ["sh", "-c", `exec "$@" ${redirection}`, "sh"];
    await using program = await Program.start(["--stdin"], { wrap });
    const [warning] = await program.waitForLines(1);
    const end = warning!.replace(/has failed \(.*directory.*\)/, "has ended");
    assertEquals(end, ENDED);
    assertEquals(await read(program), reading);
    assertEquals((await program.stop()).code, 0);
  });
}

testUnless(
  await missingTerminal(),
  "the program serves a line typed on a terminal",
  async () => {
    const run = programCommand(["--port", "0", "--stdin"]).flat();
    await using program = new Program(...onTerminal(run));
    await program.waitUntilListening();
    await program.write("21.5\r");
    await waitForReading(program, "21.5");
    await program.write("\x03");
    assertEquals((await program.waitForEnd()).code, 0); // although a read is pending
  },
);

testUnless(
  await missingFile("/proc/self/status"),
  "the program drops an endless line without using much memory",
  async () => {
    await using program = await startWithPipe();
    await program.write("21.5\n");
    await waitForReading(program, "21.5");
    const before = await residentMemory(program.pid);
    const megabyte = "x".repeat(1e6);
    for (let count = 0; count < 25; count++) await program.write(megabyte);
    assertEquals(await read(program), "21.5");
    const growth = await residentMemory(program.pid) - before;
    assert(growth < 15, `${growth} MB more`);
    await program.write("\n22\n");
    await waitForReading(program, "22");
    const warning = `WARN Dropping lines longer than 65536 bytes, such as "${
      "x".repeat(80)
    }"`;
    assertEquals(program.stdout.match(/WARN.*/g), [warning]);
  },
);
