// --stdin: readings from whatever standard input is, until they are served.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { lacksFile, testUnless } from "../helpers/machine.ts";
import { get, send } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, Program } from "../helpers/program.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";
import { within } from "../helpers/wait.ts";

const ENDED = "WARN The input has ended: no new readings will arrive";
const NOTHING = "The sensor has sent no reading yet";

/** The program, and the other end of its standard input. */
interface Fed extends AsyncDisposable {
  program: Program;
  sensor: Deno.FsFile;
  write(text: string): Promise<void>;
}

/** Starts the program with a FIFO as its standard input. */
async function startFed(
  redirection: "<" | "<>",
  ...args: string[]
): Promise<Fed> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await Folder.create());
  const fifo = `${folder.path}/sensor`;
  assertEquals((await output("mkfifo", [fifo])).code, 0);
  const wrap = ["sh", "-c", `exec "$@" ${redirection}"$0"`, fifo];
  const starting = Program.start(["--stdin", ...args], { wrap });
  // Waits until the other end is open
  const sensor = stack.use(await Deno.open(fifo, { write: true }));
  const program = stack.use(await starting);
  const owned = stack.move();
  return {
    program,
    sensor,
    write: (text) => send(sensor, new TextEncoder().encode(text)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
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

for (const redirection of ["<", "<>"] as const) {
  const input = redirection === "<" ? "a pipe" : "a FIFO opened both ways";
  Deno.test(`the program serves the last line that comes through ${input}`, async () => {
    await using fed = await startFed(redirection);
    const { program, write } = fed;
    assertEquals(await read(program), NOTHING);
    const before = Math.floor(Date.now() / 1000) * 1000;
    await write("21.5\n22 °C\r\n\n23");
    await waitForReading(program, "22 °C");
    const { headers } = await get(program.url, { method: "HEAD" });
    assertEquals(headers.get("content-length"), `${'"22 °C"'.length + 1}`);
    const time = Date.parse(headers.get("last-modified")!);
    assertEquals(before <= time && time <= Date.now(), true);
    await write(".5\n");
    await waitForReading(program, "23.5");
    assertEquals(program.stdout.includes("°C"), false); // no reading is logged
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  });
}

Deno.test("the program serves the last reading after its input has ended", async () => {
  await using fed = await startFed("<");
  const { program, sensor, write } = fed;
  await write("21.5\n22"); // a last line without its end
  sensor.close();
  assertEquals(await program.waitForLines(1), [ENDED]);
  assertEquals(await read(program), "22");
});

Deno.test("the program serves each line unchanged with --json", async () => {
  await using fed = await startFed("<", "--json");
  const { program, write } = fed;
  for (const text of ["21.50", '{"°C": 21.50, "id": 9007199254740993}']) {
    await write(`${text}\nnot JSON\nnot JSON\n`);
    await program.waitFor(async () =>
      await (await get(program.url)).text() === text
    );
  }
  await program.stop();
  const warning = "WARN Dropping lines that are not JSON";
  assertEquals(program.stdout.match(/WARN.*/g), [warning, warning]);
});

Deno.test("the program answers 503 while a reading is older than --max-age", async () => {
  await using fed = await startFed("<", "--max-age", "0.5");
  const { program, write } = fed;
  for (const reading of ["21.5", "22"]) {
    await program.waitFor(async () => {
      await write(`${reading}\n`); // on a busy machine, it may be old at once
      return await read(program) === reading;
    });
    await program.waitFor(async () =>
      /^The last reading is \d+(\.\d)? s old: the limit is 0\.5 s$/
        .test(await read(program))
    );
  }
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
    assertEquals(
      warning!.replace(/has failed \(.*directory.*\)/, "has ended"),
      ENDED,
    );
    assertEquals(await read(program), reading);
    assertEquals((await program.stop()).code, 0);
  });
}

testUnless(
  lacksTerminal,
  "the program serves a line that is typed",
  async () => {
    const run = command(["--port", "0", "--stdin"]).flat();
    await using program = await Terminal.run(run);
    await program.listening();
    await program.type("21.5\r");
    await waitForReading(program, "21.5");
    await program.type("\x03");
    assertEquals((await program.end()).code, 0); // although a read is pending
  },
);

testUnless(
  await lacksFile("/proc/self/status"),
  "the program drops an endless line in bounded memory",
  async () => {
    await using fed = await startFed("<");
    const { program, write } = fed;
    const peakMegabytes = async () => {
      const file = `/proc/${program.pid}/status`;
      const { stdout } = await output("grep", ["VmHWM", file]);
      return Number(stdout.match(/(\d+) kB/)![1]) / 1024;
    };
    await write("21.5\n");
    await waitForReading(program, "21.5");
    const before = await peakMegabytes();
    const megabyte = "x".repeat(1024 * 1024);
    for (let count = 0; count < 25; count++) await write(megabyte);
    assertEquals(await read(program), "21.5");
    await write("\n22\n");
    await waitForReading(program, "22");
    assertEquals(await peakMegabytes() < before + 15, true);
    const warning = "WARN Dropping lines longer than 65536 bytes";
    assertEquals(program.stdout.match(/WARN.*/g), [warning]);
  },
);

Deno.test("the program exits without delay on SIGTERM while it reads", async () => {
  await using fed = await startFed("<>");
  const { program } = fed;
  await read(program);
  program.kill("SIGTERM");
  const explain = () => "it should have ended within 1.5 s";
  assertEquals((await within(program.ended, explain, 1500)).code, 0);
});

Deno.test("the program reads no standard input without --stdin", async () => {
  const wrap = ["sh", "-c", 'exec "$@" <deno.json', "sh"];
  await using program = await Program.start([], { wrap });
  assertEquals(await read(program), "Sensor data");
  await program.stop();
  assertEquals(program.stdout.includes("WARN"), false);
});
