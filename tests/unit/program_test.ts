// The program with fake streams, signals and server: settings, output, exit codes.

import { assertEquals, assertMatch } from "@std/assert";
import { HELP, VERSION } from "../../src/command_line.ts";
import { type PROCESS, runProgram } from "../../src/program.ts";
import { ListenError } from "../../src/startup.ts";
import { waitFor, within } from "../helpers/wait.ts";

type RunServer = typeof PROCESS.runServer;
type Stream = "stdout" | "stderr";

interface FakeProcess {
  /** Runs in place of the server. */
  runServer?: RunServer;
  input?: string;
  terminals?: Stream[];
  noColor?: boolean;
  /** Takes what is written to an output stream. */
  write?: (bytes: Uint8Array) => Promise<number>;
  stopSignal?: () => AbortSignal;
  uncaught?: AbortSignal;
}

/** Runs the program in a fake process, and records what it writes, in order. */
async function run(args: string[], {
  runServer = () => Promise.resolve(),
  input = "",
  terminals = [],
  noColor = false,
  write = (bytes) => Promise.resolve(bytes.length),
  stopSignal = () => new AbortController().signal,
  uncaught = new AbortController().signal,
}: FakeProcess = {}) {
  const written: [stream: Stream, text: string][] = [];
  const createOutput = (name: Stream) => ({
    isTerminal: () => terminals.includes(name),
    write: (bytes: Uint8Array) => {
      written.push([name, new TextDecoder().decode(bytes)]);
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
    stdout: createOutput("stdout"),
    stderr: createOutput("stderr"),
    noColor,
    runServer,
    stopSignal,
    uncaughtErrorSignal: () => uncaught,
  } as unknown as typeof PROCESS;
  const code = await within(runProgram(args, process), () => "no exit code");
  return { code, written };
}

/** Arguments, the exit code, and what is printed where. */
const PRINTED: [string[], number, Stream, ...lines: string[]][] = [
  [["--help"], 0, "stdout", HELP],
  [["--version"], 0, "stdout", VERSION],
  [
    ["--foo"],
    2,
    "stderr",
    'Unknown flag "--foo"',
    "Run with --help for the list of flags",
  ],
  [
    ["--foo", "--journal"],
    2,
    "stderr",
    '<3>Unknown flag "--foo"',
    "<3>Run with --help for the list of flags",
  ],
];

for (const [args, code, stream, ...lines] of PRINTED) {
  Deno.test(`runProgram() prints to ${stream} and returns ${code} for ${args}`, async () => {
    const written: [Stream, string][] = [[stream, `${lines.join("\n")}\n`]];
    const runServer = () => Promise.reject("The server runs");
    assertEquals(await run(args, { runServer }), { code, written });
    const write = () => Promise.reject(new Deno.errors.BrokenPipe());
    assertEquals(await run(args, { write }), { code, written });
  });
}

const ERROR = new TypeError("On fire");
const IN_USE = new ListenError(new Deno.errors.AddrInUse(), "::", 80);

/** Logs a line, then fails. */
const failWith = (error: unknown): RunServer => (_config, _handler, logger) => {
  logger.info("a line");
  return Promise.reject(error);
};

const FAILURES: [flag: string, error: unknown, text: string][] = [
  ["--debug", IN_USE, IN_USE.message],
  ["--journal", IN_USE, `<3>${IN_USE.message.replace("\n", "\n<3>")}`],
  ["--debug", ERROR, ERROR.stack!],
  ["--no-debug", ERROR, "TypeError: On fire"],
  ["--debug", "on fire", "on fire"],
];

for (const [flag, error, text] of FAILURES) {
  Deno.test(`runProgram() prints ${error} with ${flag} after the log and returns 1`, async () => {
    assertEquals(await run([flag], { runServer: failWith(error) }), {
      code: 1,
      written: [["stdout", "a line\n"], ["stderr", `${text}\n`]],
    });
  });
}

Deno.test("runProgram() returns 1 if it cannot listen for signals", async () => {
  const stopSignal = () => {
    throw ERROR;
  };
  const written: [Stream, string][] = [["stderr", `${ERROR.stack}\n`]];
  assertEquals(await run([], { stopSignal }), { code: 1, written });
});

Deno.test("runProgram() waits for each output stream, but not forever", async () => {
  const stuck = { write: () => new Promise<never>(() => {}) };
  const runServer = failWith(ERROR);
  const results = await Promise.all([
    run(["--help"], stuck),
    run(["--foo"], stuck),
    run([], { ...stuck, runServer }),
  ]);
  assertEquals(
    results.map(({ code, written }) => [code, written.length]),
    [[0, 1], [2, 1], [1, 2]],
  );
});

/** Runs until the server is stopped, and then logs a line. */
const runUntilStopped: RunServer = async (_config, _handler, logger, stop) => {
  if (!stop.aborted) {
    await new Promise((resolve) => stop.addEventListener("abort", resolve));
  }
  logger.info("stopped");
};

Deno.test("runProgram() returns 0 after a signal has stopped the server", async () => {
  const stop = new AbortController();
  const running = run([], {
    runServer: runUntilStopped,
    stopSignal: () => stop.signal,
  });
  stop.abort();
  const written: [Stream, string][] = [["stdout", "stopped\n"]];
  assertEquals(await running, { code: 0, written });
});

Deno.test("runProgram() stops the server after an uncaught error, prints it and returns 1", async () => {
  const controller = new AbortController();
  const { signal: uncaught } = controller;
  const running = run([], { runServer: runUntilStopped, uncaught });
  controller.abort(ERROR);
  assertEquals(await running, {
    code: 1,
    written: [["stdout", "stopped\n"], ["stderr", `${ERROR.stack}\n`]],
  });
});

const YELLOW = "\x1b[33mWARN hot\x1b[0m";

const STYLES: [name: string, string[], FakeProcess, line: string][] = [
  ["colors on a terminal", [], { terminals: ["stdout"] }, YELLOW],
  ["no colors in a file", [], { terminals: ["stderr"] }, "WARN hot"],
  [
    "no colors with NO_COLOR",
    [],
    { terminals: ["stdout"], noColor: true },
    "WARN hot",
  ],
  [
    "priorities with --journal",
    ["--journal"],
    { terminals: ["stdout"] },
    "<4>WARN hot",
  ],
];

for (const [name, args, process, line] of STYLES) {
  Deno.test(`runProgram() logs with ${name}`, async () => {
    const runServer: RunServer = (_config, _handler, logger) => {
      logger.warn("hot");
      return Promise.resolve();
    };
    const { written } = await run(args, { ...process, runServer });
    assertEquals(written, [["stdout", `${line}\n`]]);
  });
}

Deno.test("runProgram() logs debug messages unless --no-debug is given", async () => {
  const runServer: RunServer = (_config, _handler, logger) => {
    logger.debug("detail");
    return Promise.resolve();
  };
  const lines = async (flag: string) =>
    (await run([flag], { runServer })).written;
  assertEquals(await lines("--debug"), [["stdout", "DEBUG detail\n"]]);
  assertEquals(await lines("--no-debug"), []);
});

/** Flags, the standard input, the response's body and the value of CORS. */
const SERVED: [args: string[], input: string, body: string, cors?: string][] = [
  [[], "21.5\n", '"Sensor data"'],
  [["--message", "hot"], "21.5\n", '"hot"'],
  [["--stdin"], "21.5\n", '"21.5"'],
  [["--stdin", "--json"], "21.5\n", "21.5"],
  [["--cors"], "", '"Sensor data"', "*"],
];

for (const [args, input, body, cors] of SERVED) {
  Deno.test(`runProgram() serves ${body} with [${args}], and logs each request`, async () => {
    const runServer: RunServer = async (config, handler) => {
      assertEquals([config.hostname, config.port], ["::1", 8000]);
      const request = new Request("http://board/datasensor?x=1");
      const remoteAddr = { hostname: "192.0.2.7", port: 1, transport: "tcp" };
      const info = { remoteAddr } as Deno.ServeHandlerInfo<Deno.NetAddr>;
      let response!: Response;
      await waitFor(async () => {
        response = await handler(request, info);
        return response.ok;
      });
      const origin = response.headers.get("access-control-allow-origin");
      assertEquals([await response.text(), origin], [body, cors ?? null]);
    };
    const listen = ["--host", "::1", "--port", "8000"];
    const { code, written } = await run([...listen, ...args], {
      runServer,
      input,
    });
    assertEquals(code, 0, String(written));
    assertMatch(
      written.join(),
      /192\.0\.2\.7 - - \[.*\] "GET \/datasensor\?x=1 HTTP\/1\.1" 200 -\n/,
    );
  });
}
