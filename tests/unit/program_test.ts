// The program with fake streams, signals and server: settings, log, exit codes.

import { assertEquals, assertMatch } from "@std/assert";
import { HELP, VERSION } from "../../src/process/command_line.ts";
import { type PROCESS, runProgram } from "../../src/program.ts";
import { ListenError } from "../../src/server/listener.ts";
import { delay, waitFor, within } from "../helpers/wait.ts";

type ServerArguments = ConstructorParameters<typeof PROCESS.Server>;

/** What a server does until it is stopped. */
type Serve = (
  server: {
    config: ServerArguments[0];
    chain: ServerArguments[1];
    logger: ServerArguments[2];
  },
  stop: AbortSignal,
) => Promise<void>;

/** Runs the program, and returns its exit code and what it wrote, in order. */
async function run(args: string[], {
  serve = (() => Promise.resolve()) as Serve,
  input = "",
  isTerminal = false, // standard output; standard error is the opposite
  noColor = false,
  write = (bytes: Uint8Array) => Promise.resolve(bytes.length),
  stopSignal = () => new AbortController().signal,
  uncaught = new AbortController().signal,
} = {}) {
  const written: string[] = [];
  const createOutput = (name: string, isTerminal: boolean) => ({
    isTerminal: () => isTerminal,
    write: (bytes: Uint8Array) => {
      written.push(`${name}: ${new TextDecoder().decode(bytes)}`);
      return write(bytes);
    },
  });
  const read = (bytes: Uint8Array) => {
    const { written } = new TextEncoder().encodeInto(input, bytes);
    input = "";
    return Promise.resolve(written || null);
  };
  const process = {
    stdin: { read },
    stdout: createOutput("stdout", isTerminal),
    stderr: createOutput("stderr", !isTerminal),
    noColor,
    Server: class {
      #server;
      constructor(...[config, chain, logger]: ServerArguments) {
        this.#server = { config, chain, logger };
      }
      run = (stop: AbortSignal) => serve(this.#server, stop);
    },
    stopSignal,
    uncaughtErrorSignal: () => uncaught,
  } as unknown as typeof PROCESS;
  const code = await within(runProgram(args, process), () => "no exit code");
  return [code, ...written];
}

const UNKNOWN = 'Unknown flag "--foo"';
const HINT = "Run with --help for the list of flags";

const PRINTED: [args: string[], code: number, written: string][] = [
  [["--help"], 0, `stdout: ${HELP}\n`],
  [["--version"], 0, `stdout: ${VERSION}\n`],
  [["--foo"], 2, `stderr: ${UNKNOWN}\n${HINT}\n`],
  [["--journal", "--foo"], 2, `stderr: <3>${UNKNOWN}\n<3>${HINT}\n`],
  [["--foo", "--journal"], 2, `stderr: <3>${UNKNOWN}\n<3>${HINT}\n`],
];

for (const [args, code, written] of PRINTED) {
  Deno.test(`runProgram() answers ${args} and returns ${code}`, async () => {
    const serve = () => Promise.reject("The server runs");
    assertEquals(await run(args, { serve }), [code, written]);
  });
}

Deno.test("runProgram() returns 1 and says why if it cannot write what is asked for", async () => {
  const write = () => Promise.reject(new Error("No space left"));
  const written = [
    `stdout: ${HELP}\n`,
    "stderr: Cannot write: Error: No space left\n",
  ];
  assertEquals(await run(["--help"], { write }), [1, ...written]);
});

Deno.test("runProgram() returns 2 after invalid usage that it cannot report", async () => {
  const write = () => Promise.reject(new Deno.errors.BrokenPipe());
  const [code] = await run(["--foo"], { write });
  assertEquals(code, 2);
});

const ERROR = new TypeError("On fire");
const IN_USE = new ListenError(new Deno.errors.AddrInUse(), "::", 80);

/** Returns a server that logs a line and then fails. */
const failWith = (error: unknown): Serve => ({ logger }) => {
  logger.info("a line");
  return Promise.reject(error);
};

const FAILURES: [flag: string, error: unknown, printed: string][] = [
  ["--debug", IN_USE, IN_USE.message],
  ["--journal", IN_USE, `<3>${IN_USE.message.replace("\n", "\n<3>")}`],
  ["--debug", ERROR, ERROR.stack!],
  ["--no-debug", ERROR, "TypeError: On fire"],
  ["--debug", "on fire", "on fire"],
];

for (const [flag, error, printed] of FAILURES) {
  Deno.test(`runProgram() prints ${error} with ${flag} after the log and returns 1`, async () => {
    const result = await run([flag], { serve: failWith(error) });
    assertEquals(result, [1, "stdout: a line\n", `stderr: ${printed}\n`]);
  });
}

Deno.test("runProgram() waits until its help is written, on a slow machine too", async () => {
  let isWritten = false;
  const write = async (bytes: Uint8Array) => {
    await delay(1000); // more than the log and errors get
    isWritten = true;
    return bytes.length;
  };
  await run(["--help"], { write });
  assertEquals(isWritten, true);
});

Deno.test("runProgram() waits until its log is written, and then its error", async () => {
  const events: string[] = [];
  const write = async (bytes: Uint8Array) => {
    events.push("begins");
    await delay(50);
    events.push("ends");
    return bytes.length;
  };
  await run(["--foo"], { write });
  assertEquals(events, ["begins", "ends"]);
  await run([], { write, serve: failWith(ERROR) });
  assertEquals(events.slice(2), ["begins", "ends", "begins", "ends"]);
});

Deno.test("runProgram() does not wait forever to write the log and errors", async () => {
  const write = () => new Promise<never>(() => {});
  const results = await Promise.all([
    run(["--foo"], { write }),
    run([], { write, serve: failWith(ERROR) }),
  ]);
  const lengths = results.map(([code, ...written]) => [code, written.length]);
  assertEquals(lengths, [[2, 1], [1, 2]]);
});

Deno.test("runProgram() returns 0 after a signal, and 1 after an uncaught error", async () => {
  const serve: Serve = async ({ logger }, stop) => {
    await waitFor(() => stop.aborted);
    logger.info("stopped");
  };
  const stopSignal = () => AbortSignal.abort();
  const uncaught = AbortSignal.abort(ERROR);
  const stopped = "stdout: stopped\n";
  assertEquals(await run([], { serve, stopSignal }), [0, stopped]);
  const failed = await run([], { serve, uncaught });
  assertEquals(failed, [1, stopped, `stderr: ${ERROR.stack}\n`]);
});

const PLAIN = "one\nWARN two\nERROR three\n";
const COLORED = "one\n\x1b[33mWARN two\x1b[0m\n\x1b[31mERROR three\x1b[0m\n";
const STACK = "DEBUG four\n    at main.ts\n";
const JOURNAL =
  "one\n<4>WARN two\n<3>ERROR three\n<7>DEBUG four\n<7>    at main.ts\n";

const LOGS: [args: string[], Parameters<typeof run>[1], log: string][] = [
  [[], {}, PLAIN + STACK],
  [[], { isTerminal: true }, COLORED + STACK],
  [[], { isTerminal: true, noColor: true }, PLAIN + STACK],
  [["--no-debug"], {}, PLAIN],
  [["--journal"], { isTerminal: true }, JOURNAL],
];

for (const [args, process, log] of LOGS) {
  const output = JSON.stringify(process);
  Deno.test(`runProgram() styles its log with [${args}] and ${output}`, async () => {
    const serve: Serve = ({ logger }) => {
      logger.info("one");
      logger.warn("two");
      logger.error("three");
      logger.debug("four\n    at main.ts");
      return Promise.resolve();
    };
    const result = await run(args, { ...process, serve });
    assertEquals(result, [0, `stdout: ${log}`]);
  });
}

/** Flags, the body of the response to them, and who may read it. */
const SERVED: [args: string[], body: string, origin?: string][] = [
  [[], '"Sensor data"'],
  [["--message", "hot"], '"hot"'],
  [["--stdin"], '"21.5"'],
  [["--stdin", "--json"], "21.5"],
  [["--cors"], '"Sensor data"', "*"],
];

for (const [args, body, origin = null] of SERVED) {
  Deno.test(`runProgram() serves ${body} with [${args}], and logs each request`, async () => {
    const serve: Serve = async ({ config: { hostname, port }, chain }) => {
      assertEquals([hostname, port], ["::1", 8000]);
      const request = new Request("http://board/datasensor?x=1");
      const info = { client: "192.0.2.7", target: "/datasensor?x=1" };
      const send = () => chain(request, info);
      await waitFor(() => send().ok); // for the input
      const response = send();
      const field = response.headers.get("access-control-allow-origin");
      assertEquals([await response.text(), field], [body, origin]);
    };
    const address = ["--host", "::1", "--port", "8000"];
    const process = { serve, input: "21.5\n" };
    const [code, ...log] = await run([...address, ...args], process);
    assertEquals(code, 0, `${log}`);
    const line = /192\.0\.2\.7 - .* "GET \/datasensor\?x=1 HTTP\/1\.1" 200 -\n/;
    assertMatch(log.join(""), line);
  });
}
