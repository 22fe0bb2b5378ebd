// Readings from standard input, whatever it is, and what becomes of them.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { lacksFile, testUnless } from "../helpers/machine.ts";
import { exchange, get, receive, send } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { command, Program } from "../helpers/program.ts";
import { GET } from "../helpers/requests.ts";
import { lacksTerminal, Terminal } from "../helpers/terminal.ts";
import { within } from "../helpers/wait.ts";

const ENDED = "WARN The input has ended: no new readings will arrive";

/** The program, and the FIFO that it reads. */
interface Fed extends AsyncDisposable {
  program: Program;
  /** Opens the FIFO as a sensor does, to write and to close it. */
  sensor: Deno.FsFile;
  write(text: string): Promise<void>;
}

/** Starts the program with a FIFO as its standard input, opened as told. */
async function startFed(open: "<" | "<>", ...args: string[]): Promise<Fed> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await Folder.create());
  const fifo = `${folder.path}/sensor`;
  const { code, stderr } = await output("mkfifo", [fifo]);
  if (code !== 0) throw new Error(stderr);
  const wrap = ["sh", "-c", `exec "$@" ${open}"$0"`, fifo];
  const starting = Program.start(["--stdin", ...args], { wrap });
  // Waits until the other end is open
  const sensor = stack.use(await Deno.open(fifo, { write: true }));
  const program = stack.use(await starting);
  const owned = stack.move();
  return {
    program,
    sensor,
    async write(text) {
      const bytes = new TextEncoder().encode(text);
      for (let sent = 0; sent < bytes.length;) {
        sent += await sensor.write(bytes.subarray(sent));
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Asks, and returns the answer: what the sensor says, or why it says nothing. */
async function ask(program: Program): Promise<string> {
  const response = await get(program.url);
  const said = await response.json();
  assertEquals(response.status, typeof said === "string" ? 200 : 503);
  return typeof said === "string" ? said : said.detail;
}

/** Asks until the answer is this one. */
async function waitForAnswer(program: Program, answer: string): Promise<void> {
  await program.waitFor(async () => await ask(program) === answer);
}

async function waitForLine(program: Program, line: string): Promise<void> {
  await program.waitFor(() => program.lines.includes(line));
}

const NOTHING = "The sensor has sent no reading yet";

for (const open of ["<", "<>"] as const) {
  const input = open === "<" ? "a pipe" : "a FIFO opened both ways";
  Deno.test(`--stdin answers with the last line that comes through ${input}`, async () => {
    await using fed = await startFed(open);
    const { program, write } = fed;
    assertEquals(await ask(program), NOTHING);
    const before = Math.floor(Date.now() / 1000) * 1000;
    await write("21.5\n22 °C\r\n\n23");
    await waitForAnswer(program, "22 °C");
    const response = await get(program.url);
    assertEquals(await response.text(), '"22 °C"');
    const time = Date.parse(response.headers.get("last-modified")!);
    assertEquals(before <= time && time <= Date.now(), true);
    const head = await get(program.url, { method: "HEAD" });
    assertEquals(head.headers.get("content-length"), '"22 °C"'.length + 1 + "");
    assertEquals(
      head.headers.get("last-modified"),
      response.headers.get("last-modified"),
    );
    await write(".5\n");
    await waitForAnswer(program, "23.5");
    assertEquals(program.stdout.includes("°C"), false); // no reading is logged
    assertEquals((await program.stop()).code, 0);
    assertEquals(program.stderr, "");
  });
}

Deno.test("--stdin answers with the last reading when the input has ended", async () => {
  await using fed = await startFed("<");
  const { program, sensor, write } = fed;
  await write("21.5\n22"); // a last line without its end
  sensor.close();
  await waitForLine(program, ENDED);
  assertEquals(await ask(program), "22");
  assertEquals(program.stdout.match(/WARN/g)?.length, 1);
});

Deno.test("--stdin --json serves each line unchanged", async () => {
  await using fed = await startFed("<", "--json");
  const { program, write } = fed;
  const read = async () => await (await get(program.url)).text();
  const texts = [
    "21.50",
    '{"model": "X", "temperature_C": 21.50, "id": 9007199254740993}',
  ];
  for (const text of texts) {
    await write(`${text}\nnot JSON\nnot JSON\n`);
    await program.waitFor(async () => await read() === text);
  }
  const response = await get(program.url);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(response.headers.has("last-modified"), true);
  await response.body?.cancel();
  await program.stop();
  assertEquals(program.stdout.match(/WARN.*/g), [
    "WARN Dropped a reading that is not JSON",
    "WARN Dropped a reading that is not JSON",
  ]);
});

Deno.test("--stdin --max-age answers 503 while a reading is too old", async () => {
  await using fed = await startFed("<", "--max-age", "0.5");
  const { program, write } = fed;
  for (const reading of ["21.5", "22"]) {
    await program.waitFor(async () => {
      await write(`${reading}\n`); // on a busy machine, it may be old at once
      return await ask(program) === reading;
    });
    let answer = "";
    await program.waitFor(async () => {
      answer = await ask(program);
      return answer !== reading;
    });
    assertMatch(
      answer,
      /^The last reading is \d+(\.\d)? s old: the limit is 0\.5 s$/,
    );
  }
  const head = await get(program.url, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [503, ""]);
});

const INPUTS: [input: string, redirection: string, answer: string][] = [
  ["nothing", "</dev/null", NOTHING],
  ["a closed descriptor", "<&-", NOTHING],
  ["a file", "<deno.json", "}"],
  ["what cannot be read", "<src", NOTHING],
];

for (const [input, redirection, answer] of INPUTS) {
  Deno.test(`--stdin serves with ${input} as its standard input`, async () => {
    const wrap = ["sh", "-c", `exec "$@" ${redirection}`, "sh"];
    await using program = await Program.start(["--stdin"], { wrap });
    await waitForAnswer(program, answer);
    await program.waitFor(() => program.stdout.includes("WARN"));
    assertMatch(
      program.stdout.match(/WARN.*/)![0],
      redirection === "<src"
        ? /^WARN The input has ended after ".*directory.*": no new/
        : /^WARN The input has ended: no new readings will arrive$/,
    );
    assertEquals((await program.stop()).code, 0);
  });
}

testUnless(
  lacksTerminal,
  "--stdin answers with a line that is typed",
  async () => {
    const run = command(["--port", "0", "--stdin"]).flat();
    await using program = await Terminal.run(run);
    await program.listening();
    await program.type("21.5\r");
    await waitForAnswer(program, "21.5");
    await program.type("\x03");
    assertEquals((await program.end()).code, 0); // although a read is pending
  },
);

for (const flag of ["--debug", "--no-debug"]) {
  Deno.test(`an uncaught error ends the program with the lines of all answers (${flag})`, async () => {
    using folder = await Folder.create();
    const fail = async (redirection: string) => {
      const fifo =
        `[ -p "$0/in" ] || mkfifo "$0/in" "$0/err"; ${redirection} exec "$@" <>"$0/in"`;
      const [deno, run] = command(["--port=0", "--stdin", flag]);
      const args = run.map((word) =>
        word === "main.ts" ? "tests/helpers/failing_main.ts" : word
      );
      await using program = new Program("sh", [
        "-c",
        fifo,
        folder.path,
        deno,
        ...args,
      ]);
      await program.listening();
      const requests = GET.repeat(500);
      const isAnswer = /HTTP\/1\.1 503/g;
      const all = (text: string) => text.match(isAnswer)?.length === 500;
      await exchange(program.port, requests, all);
      program.kill("SIGUSR1");
      const { code } = await program.end();
      assertEquals([code, program.lines.length], [1, 500]);
      return program.stderr;
    };
    assertMatch(await fail(":;"), /^TypeError: Unforeseen\n +at /);
    // Nobody reads it, and it is full
    await fail('exec 2<>"$0/err"; head -c 65536 /dev/zero >&2;');
  });
}

testUnless(
  await lacksFile("/proc/self/status"),
  "--stdin drops an endless line in bounded memory",
  async () => {
    await using fed = await startFed("<");
    const { program, write } = fed;
    const mostMemory = async () => {
      const file = `/proc/${program.pid}/status`;
      const { stdout } = await output("grep", ["VmHWM", file]);
      return Number(stdout.match(/(\d+) kB/)![1]) / 1024;
    };
    await write("21.5\n");
    await waitForAnswer(program, "21.5");
    const before = await mostMemory();
    const megabyte = "x".repeat(1024 * 1024);
    for (let count = 0; count < 50; count++) await write(megabyte);
    assertEquals(await ask(program), "21.5");
    await write("\n22\n");
    await waitForAnswer(program, "22");
    assertEquals(await mostMemory() < before + 20, true);
    assertEquals(program.stdout.match(/WARN.*/g), [
      "WARN Dropped a reading longer than 65536 bytes",
    ]);
  },
);

Deno.test("--stdin answers 50 clients with whole lines, none older than the one before", async () => {
  const count = 1_000_000;
  await using fed = await startFed("<");
  const { program, write } = fed;
  await write("line 0 end\n");
  await waitForAnswer(program, "line 0 end");
  let isDone = false;
  const clients = Array.from({ length: 50 }, async () => {
    using connection = await Deno.connect({ port: program.port });
    let answers = 0;
    for (let last = 0; !isDone || last < count; answers++) {
      await send(connection, new TextEncoder().encode(GET));
      const response = await receive(
        connection,
        (text) => /\r\n\r\n".*"$/.test(text),
      );
      const [, number] = response.match(/\r\n\r\n"line (\d+) end"$/) ?? [];
      const current = Number(number ?? NaN);
      if (!(current >= last)) throw new Error(`${response} after ${last}`);
      last = current;
    }
    return answers;
  });
  let lines = "";
  for (let number = 1; number <= count; number++) {
    lines += `line ${number} end\n`;
    if (number % 1000 > 0) continue;
    await write(lines);
    lines = "";
  }
  isDone = true;
  const all = await within(Promise.all(clients), () => "the last line");
  assertEquals(all.every((answers) => answers > 1), true);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`--stdin does not keep the program from ending on ${signal}`, async () => {
    await using fed = await startFed("<>");
    const { program } = fed;
    await ask(program);
    program.kill(signal);
    const late = () => "it should have ended within 1.5 s";
    assertEquals((await within(program.ended, late, 1500)).code, 0);
  });
}

Deno.test("the program reads no standard input without --stdin", async () => {
  const wrap = ["sh", "-c", 'exec "$@" <deno.json', "sh"];
  await using program = await Program.start([], { wrap });
  assertEquals(await ask(program), "Sensor data");
  await program.stop();
  assertEquals(program.stdout.includes("WARN"), false);
});
