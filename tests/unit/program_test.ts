// The program with fake streams, signals and server: settings, log, exit codes.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { HELP, VERSION } from "../../src/process/command_line.ts";
import { runProgram } from "../../src/program.ts";
import { Server } from "../../src/server/server.ts";
import { SYSTEM, type System } from "../../src/system.ts";
import { ListenError } from "../../src/server/listener.ts";
import { MemoryError } from "../../src/server/memory.ts";
import { parseAccessLine } from "../helpers/access_line.ts";
import { delay, waitFor, within } from "../helpers/wait.ts";

type ServerArguments = ConstructorParameters<typeof Server>;

/** What Deno.serve tells a handler about a client. */
const CLIENT = {
  remoteAddr: { transport: "tcp", hostname: "192.0.2.7", port: 5001 },
  completed: Promise.resolve(),
} as const;

/** What a server does until it is stopped. */
type Serve = (
  server: {
    config: ServerArguments[0];
    application: ServerArguments[1];
    logger: ServerArguments[2];
  },
  stop: AbortSignal,
) => Promise<void>;

/** Runs the program, and returns its exit code and what it wrote, in order. */
async function run(args: string[], {
  serve = (() => Promise.resolve()) as Serve,
  input = "",
  read = (bytes: Uint8Array): Promise<number | null> => {
    const { written } = new TextEncoder().encodeInto(input, bytes);
    input = "";
    return Promise.resolve(written || null);
  },
  isInputTerminal = false,
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
  // deno-lint-ignore no-explicit-any -- until there is a server of tests
  Server.prototype.run = function (this: any, stop) {
    const { settings, application, logger } = this;
    return serve({ config: settings, application, logger }, stop);
  };
  const process = {
    ...SYSTEM,
    acceptTrims() {},
    stdin: { read, isTerminal: () => isInputTerminal },
    stdout: createOutput("stdout", isTerminal),
    stderr: createOutput("stderr", !isTerminal),
    noColor,
    stopSignal,
    uncaughtErrorSignal: () => uncaught,
  } as unknown as System;
  const code = await within(runProgram(args, process), () => "an exit code");
  return [code, ...written];
}

Deno.test("runProgram() returns 1 if it cannot write what is asked for, and 2 if it cannot report invalid usage", async () => {
  const write = () => Promise.reject(new Error("No space left"));
  const written = "stderr: Cannot write: Error: No space left\n";
  const help = await run(["--help"], { write });
  assertEquals(help, [1, `stdout: ${HELP}\n`, written]);
  assertEquals((await run(["--foo"], { write }))[0], 2);
});

Deno.test("runProgram() writes all of a text, even if a write takes only a part", async () => {
  const text = `${HELP}\n`;
  const part = text.length - 100;
  const write = ({ length }: Uint8Array) =>
    Promise.resolve(Math.min(length, part));
  const writes = [`stdout: ${text}`, `stdout: ${text.slice(part)}`];
  assertEquals(await run(["--help"], { write }), [0, ...writes]);
});

Deno.test("runProgram() prints invalid usage with its priority under systemd", async () => {
  const [code, printed] = await run(["--journal", "--foo"]);
  assertEquals(code, 2);
  assertMatch(`${printed}`, /^stderr: <3>Unknown flag .*\n<3>Run with --help/);
});

const ERROR = new TypeError("On fire");
const IN_USE = new ListenError("taken", "The port is in use", "Stop it");
const RESERVED = new ListenError("impossible", "The port is reserved");
const NOT_FREED = new MemoryError("Not freed\nSet a variable");

/** Returns a server that logs a line and then fails. */
const failWith = (error: unknown): Serve => ({ logger }) => {
  logger.info("a line");
  return Promise.reject(error);
};

const FAILURES: [
  flag: string,
  error: unknown,
  printed: string,
  code?: number,
][] = [
  ["--debug", RESERVED, RESERVED.message],
  ["--journal", RESERVED, `<3>${RESERVED.message}`, 2],
  ["--debug", NOT_FREED, NOT_FREED.message],
  ["--journal", IN_USE, `<3>${IN_USE.message.replace("\n", "\n<3>")}`],
  ["--debug", ERROR, ERROR.stack!],
  ["--no-debug", ERROR, "TypeError: On fire"],
  ["--debug", "on fire", "on fire"],
];

for (const [flag, error, printed, code = 1] of FAILURES) {
  Deno.test(`runProgram() prints ${error} with ${flag} after the log and returns ${code}`, async () => {
    const result = await run([flag], { serve: failWith(error) });
    const isJournal = flag === "--journal";
    const log = isJournal ? `stderr: ${VERSION}\na line\n` : "stdout: a line\n";
    assertEquals(result, [code, log, `stderr: ${printed}\n`]);
  });
}

Deno.test("runProgram() waits until its help or error is written, or its log and then its error", async () => {
  for (const args of [["--help"], ["--foo"], []]) {
    const ms = args[0] === "--help" ? 1000 : 50; // more than the others may take
    let events = "";
    const write = async (bytes: Uint8Array) => {
      events += "begins ";
      await delay(ms);
      events += "ends ";
      return bytes.length;
    };
    await run(args, { write, serve: failWith(ERROR) });
    const writes = args.length > 0 ? 1 : 2;
    assertEquals(events, "begins ends ".repeat(writes));
  }
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
    await waitFor("the signal to stop", () => stop.aborted);
    logger.info("stopped");
  };
  const stopSignal = () => AbortSignal.abort();
  const uncaught = AbortSignal.abort(ERROR);
  const stopped = "stdout: stopped\n";
  assertEquals(await run([], { serve, stopSignal }), [0, stopped]);
  const failed = await run([], { serve, uncaught });
  assertEquals(failed, [1, stopped, `stderr: ${ERROR.stack}\n`]);
});

/** A request whose method cannot be read when the resource reads it, as the first one. */
class FailingRequest extends Request {
  #hasFailed = false;

  constructor(private readonly error: unknown, method: string) {
    super("http://board/datasensor", { method });
  }

  override get method(): string {
    if (this.#hasFailed) return super.method;
    this.#hasFailed = true;
    throw this.error;
  }
}

for (const [error, method] of [[ERROR, "GET"], ["on fire", "HEAD"]] as const) {
  Deno.test(`runProgram() answers 500 without details if the resource throws ${error} at ${method}, and logs it and the request`, async () => {
    const serve: Serve = async ({ application: { handler } }) => {
      const request = new FailingRequest(error, method);
      const response = await handler(request, CLIENT);
      assertEquals(response.status, 500);
      const type = response.headers.get("content-type");
      assertEquals(type, "application/problem+json");
      const body = JSON.stringify({
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "The service has failed: its log says why",
      });
      assertEquals(await response.text(), method === "HEAD" ? "" : body);
    };
    const [code, log] = await run([], { serve });
    assertEquals(code, 0);
    const failed = `stdout: ERROR The handler failed: ${error}\n`;
    const stack = error === ERROR ? `DEBUG ${ERROR.stack}\n` : "";
    assert(`${log}`.startsWith(failed + stack), `${log}`);
    const access = `${log}`.slice(failed.length + stack.length).trimEnd();
    assertEquals(parseAccessLine(access)?.status, "500");
  });
}

const LINE = '{"id": 7}';
const SERVED: [args: string[], body: string][] = [
  [["--stdin"], JSON.stringify(LINE)],
  [["--stdin", "--json"], LINE],
  [["--stdin", "--json", "--key", "id"], `{"7":${LINE}}`],
];

for (const [args, served] of SERVED) {
  Deno.test(`runProgram() serves the last line of its input with ${args}`, async () => {
    const serve: Serve = async ({ application: { handler } }) => {
      const request = new Request("http://board/datasensor");
      const ask = async () => await (await handler(request, CLIENT)).text();
      await waitFor("the reading", ask, (body) => body === served);
      const one = new Request("http://board/datasensor/7");
      const body = await (await handler(one, CLIENT)).text();
      const isNamed = args.includes("--key");
      assertMatch(body, isNamed ? RegExp(`^${LINE}$`) : /The resources are/);
    };
    assertEquals((await run(args, { serve, input: `${LINE}\n` }))[0], 0);
  });
}

/** Where a sensor that sends nothing may say why, under systemd and elsewhere. */
const HINTS = {
  "--journal": "its messages in the journal may say why",
  "--debug": "in a pipe, it may buffer its output",
};

for (const [flag, hint] of Object.entries(HINTS)) {
  Deno.test(`runProgram() retries, mentions Ctrl+C and explains silence as fits ${flag}`, async () => {
    const serve: Serve = async ({ config, application: { handler } }) => {
      const isSystemd = flag === "--journal";
      const { retriesStart, mentionsCtrlC } = config;
      assertEquals([retriesStart, mentionsCtrlC], [isSystemd, !isSystemd]);
      const request = new Request("http://board/datasensor");
      const { detail } = await (await handler(request, CLIENT)).json();
      assertEquals(detail, `The sensor has sent no reading so far; ${hint}`);
    };
    const read = () => new Promise<never>(() => {});
    assertEquals((await run(["--stdin", flag], { serve, read }))[0], 0);
  });
}

Deno.test("runProgram() lets the server name the page of a sensor", async () => {
  for (const args of [["--stdin"], []]) {
    const serve: Serve = ({ config }) => {
      assertEquals(config.hasPage, args.length > 0);
      return Promise.resolve();
    };
    assertEquals((await run(args, { serve }))[0], 0);
  }
});

Deno.test("runProgram() logs without a client that a reading is too old", async () => {
  const OLD =
    /WARN No current reading: The last reading is .* s old: the limit is 0.1 s/;
  let log = "";
  const write = (bytes: Uint8Array) => {
    log += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  };
  const serve: Serve = async () => {
    await waitFor("the warning", () => log, (text) => OLD.test(text));
  };
  const args = ["--stdin", "--max-age", "0.1"];
  assertEquals((await run(args, { serve, write, input: "21\n" }))[0], 0);
});

Deno.test("runProgram() warns of lines that nobody reads, unless they are typed", async () => {
  const warning = "Lines arrive on standard input, but --stdin is not set";
  const serve: Serve = () => delay(20); // the lines have arrived long before
  for (
    const [args, input, isInputTerminal, log] of [
      [[], "21.5\n22\n", false, [`stdout: WARN ${warning}\n`]],
      [["--stdin"], "21.5\n", false, []],
      [[], "", false, []],
      [[], "21.5\n", true, []],
    ] as const
  ) {
    const result = await run([...args], { serve, input, isInputTerminal });
    assertEquals(result, [0, ...log]);
  }
});

const PLAIN = "one\nWARN two\nERROR three\n";
const COLORED = "one\n\x1b[33mWARN two\x1b[0m\n\x1b[31mERROR three\x1b[0m\n";
const STACK = "DEBUG four\n    at main.ts\n";
const JOURNAL = `${VERSION}\n` +
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
    // Under systemd, standard output is the FIFO of the readings
    const stream = args.includes("--journal") ? "stderr" : "stdout";
    assertEquals(result, [0, `${stream}: ${log}`]);
  });
}
