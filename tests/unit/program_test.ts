// The whole program, on a simulated system: its exit codes, what it prints, and its log.

import { assert, assertEquals } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { VERSION } from "../../src/version.ts";
import { output } from "../helpers/process.ts";
import { RawRequest, Service } from "./service.ts";

/** Runs the program until it ends, and returns its exit code and what it wrote, in order. */
async function run(...args: ConstructorParameters<typeof Service>) {
  const service = new Service(...args);
  return [await service.end(), ...service.written];
}

Deno.test("the program ends with 1 if it cannot write what is asked for, and with 2 if it cannot report invalid usage", async () => {
  const write = () => Promise.reject(new Error("No space left"));
  const printed = "stderr: Cannot write: Error: No space left\n";
  const help = await run("--help", { write });
  assertEquals(help, [1, `stdout: ${HELP}\n`, printed]);
  assertEquals((await run("--foo", { write }))[0], 2);
});

Deno.test("the program writes all of a text, even if a write takes only a part", async () => {
  const write = () => Promise.resolve(HELP.length); // all but the line feed
  const written = [`stdout: ${HELP}\n`, "stdout: \n"];
  const help = await run("--help", { write });
  assertEquals(help, [0, ...written]);
});

Deno.test("invalid usage is printed, with its priority under systemd, and ends with 2", async () => {
  const printed =
    'Unknown flag "--foo"\nRun with --help for the list of flags\n';
  assertEquals(await run("--foo"), [2, `stderr: ${printed}`]);
  const journal = printed.replace(/^(?=.)/gm, "<3>");
  assertEquals(await run("--journal --foo"), [2, `stderr: ${journal}`]);
});

/** Returns what the program does with writes that take some time, until an error ends it. */
async function runSlowly(flags: string, ms: number) {
  let events = "";
  const write = async ({ length }: Uint8Array) => {
    events += "begins ";
    await null; // the constructor writes already
    await service.delay(ms);
    events += "ends ";
    return length;
  };
  const service: Service = new Service(flags, { write });
  await service.pass(0);
  service.uncaught.abort("on fire");
  const code = await service.end();
  return `${events}${code}`;
}

Deno.test("the program waits until all is written, but not forever for the log and errors", async () => {
  assertEquals(await runSlowly("--help", 5000), "begins ends 0");
  assertEquals(await runSlowly("--foo", 899), "begins ends 2");
  assertEquals(await runSlowly("", 799), "begins ends begins ends 1");
  assertEquals(await runSlowly("--foo", 901), "begins 2");
  assertEquals(await runSlowly("", 2000), "begins begins 1");
});

const ERROR = new TypeError("On fire");

/** An uncaught error, and what is printed of it after the log. */
const ERRORS = [
  ["--debug", ERROR, ERROR.stack],
  ["--no-debug", ERROR, "TypeError: On fire"],
  ["--debug", "on fire", "on fire"],
] as const;

for (const [flag, error, printed] of ERRORS) {
  Deno.test(`the program prints the uncaught ${error} with ${flag}, and ends with 1`, async () => {
    const service = new Service(flag);
    await service.pass(0);
    service.uncaught.abort(error);
    assertEquals(await service.end(), 1);
    const [log, ...others] = service.written;
    assertEquals(log!.split("\n").at(-2), "Press CTRL+C to quit");
    assertEquals(others, [`stderr: ${printed}\n`]);
  });
}

/** Flags, and what is written at the start. */
const STARTS: Record<string, string> = {
  "--host ::1 --stdin": `stdout:  * Debug mode: on
 * Only this machine can connect (::1)
 * Running on http://[::1]:5000/datasensor
 * Page with graphs: http://[::1]:5000/
Press CTRL+C to quit
`,
  "--host 127.0.0.1 --no-debug": `stdout:  * Debug mode: off
 * Only this machine can connect (127.0.0.1)
 * Running on http://127.0.0.1:5000/datasensor
Press CTRL+C to quit
`,
  "--port 5001": `stdout:  * Debug mode: on
 * Running on all addresses (0.0.0.0)
 * Running on http://127.0.0.1:5001/datasensor
 * Running on http://192.0.2.7:5001/datasensor
Press CTRL+C to quit
`,
  "--host :: --stdin --journal": `stderr: ${VERSION}
 * Debug mode: on
 * Running on all addresses (::)
 * Running on http://127.0.0.1:5000/datasensor
 * Running on http://192.0.2.7:5000/datasensor
 * Running on http://[2001:db8::7]:5000/datasensor
 * Page with graphs: http://192.0.2.7:5000/
`,
};

for (const [flags, text] of Object.entries(STARTS)) {
  Deno.test(`the log begins as fits ${flags}`, async () => {
    const service = new Service(flags);
    assertEquals(await service.stop(), 0);
    assertEquals(service.written, [text]);
  });
}

Deno.test("the start report lists only loopback in a sandbox that hides other addresses", async () => {
  const networkInterfaces = () => {
    throw new Deno.errors.NotCapable("Address family not supported");
  };
  const service = new Service("", { networkInterfaces });
  await service.stop();
  const hosts = service.written[0]!.match(/(?<=http:..)[^:]+/g);
  assertEquals(hosts, ["127.0.0.1"]);
});

Deno.test("lines that nobody reads are warned of once, unless they are typed", async () => {
  const folder = new Error("Is a directory");
  for (const input of ["21.5\n22\n", null, folder]) {
    for (const isInputTerminal of [false, true]) {
      const service = new Service("", { isInputTerminal });
      service.input.push(input);
      assertEquals(await service.stop(), 0);
      const isIgnored = typeof input === "string" && !isInputTerminal;
      assertEquals(service.messages, isIgnored ? [WARNING] : []);
    }
  }
});

const TIME = "20/Nov/2026 17:14:56";
const wallMs = new Date(2026, 10, 20, 17, 14, 56).getTime(); // in the zone of the test
const LONG = "/".padEnd(1000, "x");
const { raw } = String;

/** Targets, methods, and what is logged of them. */
const REQUESTS: Record<string, [method: string, logged: string]> = {
  "/datasensor": ["BREW", '"BREW /datasensor HTTP/1.1" 405'],
  "^/": ["GET", '"GET - HTTP/1.1" 400'],
  '/\\" 200 -"': ["GET", raw`"GET /\\\"\x20200\x20-\" HTTP/1.1" 404`],
  "/\n1\x1b[31m\x7f": ["GET", raw`"GET /\x0a1\x1b[31m\x7f HTTP/1.1" 404`],
  "/\x85é€🌡": [
    "GET",
    raw`"GET /\xc2\x85\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\xa1 HTTP/1.1" 404`,
  ],
  "/!#$%&'()*+,-.:;<=>?@[]^_`{|}~": [
    "GET",
    '"GET /!#$%&\'()*+,-.:;<=>?@[]^_`{|}~ HTTP/1.1" 404',
  ],
  [LONG]: ["GET", `"GET ${LONG} HTTP/1.1" 404`],
  [`${LONG}x`]: ["GET", raw`"GET ${LONG}\... HTTP/1.1" 404`],
  "/": ["x".repeat(1001), raw`"${"x".repeat(1000)}\... / HTTP/1.1" 404`],
};

for (const [target, [method, logged]] of Object.entries(REQUESTS)) {
  Deno.test(`a request is logged as ${logged.slice(0, 80)}`, async () => {
    const service = new Service("", { wallMs });
    service.handle(new RawRequest(`http://board${target}`, method));
    await service.stop();
    assertEquals(service.lines, [`192.0.2.7 - - [${TIME}] ${logged} -`]);
  });
}

/** Requests, each of which differs in one thing from the previous one. */
const SIMILAR_REQUESTS = [
  ["::1", 56, "GET", "/datasensor", 503],
  ["::1", 56, "GET", "/datasensor", 200],
  ["::1", 56, "GET", "/metrics", 200],
  ["::1", 56, "HEAD", "/metrics", 200],
  ["::2", 56, "HEAD", "/metrics", 200],
  ["::2", 57, "HEAD", "/metrics", 200],
] as const;

Deno.test("a request that differs from the previous one in one thing is logged as it is", async () => {
  const service = new Service("--stdin");
  await service.pass(0);
  const lines: string[] = [];
  for (const [client, second, method, path, status] of SIMILAR_REQUESTS) {
    if (status === 200) await service.send("21.5\n");
    service.wallMs = new Date(2026, 10, 20, 17, 14, second).getTime();
    service.handle(new RawRequest(`http://board${path}`, method), client);
    const logged = `"${method} ${path} HTTP/1.1" ${status} -`;
    lines.push(`${client} - - [20/Nov/2026 17:14:${second}] ${logged}`);
  }
  await service.stop();
  assertEquals(service.lines, lines);
});

Deno.test("IPv4-mapped IPv6 addresses are logged as IPv4", async () => {
  const service = new Service();
  const others = ["2001:db8::ffff:1", "::ffff:0:c000:207"];
  for (const address of ["::ffff:192.0.2.7", ...others]) {
    service.handle(new RawRequest("http://board/", "GET"), address);
  }
  await service.stop();
  const logged = service.lines.map((line) => line.split(" ")[0]);
  assertEquals(logged, ["192.0.2.7", ...others]);
});

/** A request whose method cannot be read when the router reads it, as the first one. */
class FailingRequest extends RawRequest {
  #hasFailed = false;

  override get method(): string {
    if (this.#hasFailed) return super.method;
    this.#hasFailed = true;
    throw ERROR;
  }
}

const WARNING = "WARN Lines arrive on standard input, but --stdin is not set";
const FAILED = "ERROR The handler failed: TypeError: On fire";
const STACK = `DEBUG ${ERROR.stack}`;
const JOURNAL = STACK.replace(/^/gm, "<7>");
const ACCESS = `192.0.2.7 - - [${TIME}] "GET /datasensor HTTP/1.1" 500 -`;

const YELLOW = `\x1b[33m${WARNING}\x1b[0m`;
const RED = `\x1b[31m${FAILED}\x1b[0m`;

/** Flags and the console, and how a warning, an error and an access line are logged. */
const LOGS = [
  ["", {}, WARNING, FAILED, STACK, ACCESS],
  ["", { isTerminal: true }, YELLOW, RED, STACK, ACCESS],
  ["", { isTerminal: true, noColor: true }, WARNING, FAILED, STACK, ACCESS],
  ["--no-debug", {}, WARNING, FAILED, ACCESS],
  ["--journal", {}, `<4>${WARNING}`, `<3>${FAILED}`, JOURNAL, ACCESS],
] as const;

for (const [flags, changes, ...lines] of LOGS) {
  Deno.test(`the log is styled as fits ${JSON.stringify([flags, changes])}`, async () => {
    const service = new Service(flags, { ...changes, wallMs });
    await service.send("21.5\n");
    service.handle(new FailingRequest("http://board/datasensor", "GET"));
    await service.stop();
    assertEquals(service.lines.join("\n"), lines.join("\n"));
  });
}

Deno.test("an error outside the handlers is answered with 500 without details, and logged", async () => {
  const service = new Service();
  await service.pass(0);
  const response = await service.options.onError!(ERROR);
  assertEquals(response.status, 500);
  assert(!(await response.text()).includes("fire"));
  await service.stop();
  assertEquals(service.messages.join("\n"), `${FAILED}\n${STACK}`);
});

Deno.test("a handler that throws is answered with 500, without details", async () => {
  const service = new Service();
  const answer = await service.ask("/datasensor", "GET", FailingRequest);
  assertEquals(answer, "500 The service has failed: its log says why");
  await service.stop();
});

/** Instants, in this order, and what they are in Germany. */
const TIMES = {
  "1970-01-01T00:00:00.5Z": "01/Jan/1970 01:00:00", // without a battery
  "1969-12-31T23:59:59.5Z": "01/Jan/1970 00:59:59",
  "2026-01-02T03:04:05.999Z": "02/Jan/2026 04:04:05",
  "2026-01-02T03:04:06.000Z": "02/Jan/2026 04:04:06",
  "2026-03-29T00:59:59.999Z": "29/Mar/2026 01:59:59",
  "2026-03-29T01:00:00.000Z": "29/Mar/2026 03:00:00",
};

Deno.test("the log has the local time of a clock that jumps, and daylight saving time", async () => {
  const file = import.meta.resolve("../../src/http/access_log.ts");
  // In a process of its own, since a time zone is one of the whole process
  const code = `import { createTimestamp } from "${file}";
    let now = 0;
    const timestamp = createTimestamp({ wallTime: () => now });
    for (const instant of ${JSON.stringify(Object.keys(TIMES))}) {
      now = Date.parse(instant);
      console.log(timestamp());
    }`;
  const options = { env: { TZ: "Europe/Berlin" } };
  const { stdout } = await output(Deno.execPath(), ["eval", code], options);
  assertEquals(stdout.trim().split("\n"), Object.values(TIMES));
});
