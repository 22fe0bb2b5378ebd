// The command line: which arguments are accepted, and what they mean.

import { assertEquals } from "@std/assert";
import { HELP, parseCommand } from "../../../src/process/command_line.ts";
import type { Config } from "../../../src/config.ts";
import project from "../../../deno.json" with { type: "json" };

/** What the service does without a flag. */
const DEFAULTS: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  stdin: false,
  json: false,
  maxAgeSeconds: 300,
  cors: false,
  journal: false,
  debug: true,
};

/** Command lines, with a space between two arguments, and what they set. */
const COMMAND_LINES: [args: string, config: Partial<Config>][] = [
  ["", {}],
  ["--port=65535", { port: 65535 }],
  ["--port 1 --port 2", { port: 2 }],
  ["--host ::1", { hostname: "::1" }],
  ["--message -- --no-debug", { message: "--", debug: false }],
  ["--message=a=b\n=°", { message: "a=b\n=°" }],
  ["--no-debug --debug", {}],
  ["--stdin", { stdin: true }],
  ["--max-age=0.5 --stdin", { stdin: true, maxAgeSeconds: 0.5 }],
  ["--stdin --max-age=none", { stdin: true, maxAgeSeconds: Infinity }],
  ["--json --stdin", { stdin: true, json: true }],
  [
    "--key=model,\u00a0a\u00a0b,__proto__ --json --stdin",
    { stdin: true, json: true, keys: ["model", "a\u00a0b", "__proto__"] },
  ],
  ["--cors --journal", { cors: true, journal: true }],
  ["-- --port 1", { port: 1 }],
];

/** Parses a command line, with a space between two arguments. */
const parse = (line: string) => parseCommand(line ? line.split(" ") : []);

for (const [args, config] of COMMAND_LINES) {
  Deno.test(`parseCommand() accepts "${args}"`, () => {
    const settings = { ...DEFAULTS, ...config };
    assertEquals(parse(args), { kind: "serve", config: settings });
  });
}

const PORT = "--port takes a whole number from 0 to 65535";
const HOST = "--host takes one of 0.0.0.0, ::, 127.0.0.1, ::1, localhost";
const KEY =
  "--key takes different names with commas between them, such as model,id";
const MAX_AGE =
  '--max-age takes a number of seconds above 0, such as 15 or 0.5, or "none"';
const JOURNAL = "cannot be used with --journal: the service would end";

/** Command lines that are mistakes, what is said of them, and whether systemd reads it. */
const MISTAKES: [args: string, message: string, journal?: boolean][] = [
  ["--\x1b[31m", 'Unknown flag "--\\u001b[31m"'],
  ["--foo --help", 'Unknown flag "--foo"'],
  ["--port 1 ", 'Unexpected argument ""'],
  ["--port", PORT],
  ["--port= 80", PORT],
  ["--port 65536", `${PORT}, not "65536"`],
  ["--port 80.5", `${PORT}, not "80.5"`],
  ["--port=\t80", `${PORT}, not "\\t80"`],
  ["--host", HOST],
  ["--host 127.0.0.11", `${HOST}, not "127.0.0.11"`],
  ["--message=", "--message takes a non-empty text"],
  ["--debug=", '--debug takes no value, not ""'],
  ["--stdin --json --key", KEY],
  ["--stdin --json --key a,,b", `${KEY}, not "a,,b"`],
  ["--stdin --json --key id,id", `${KEY}, not "id,id"`],
  ["--stdin --max-age", MAX_AGE],
  ["--stdin --max-age 0", `${MAX_AGE}, not "0"`],
  ["--stdin --max-age 1e3", `${MAX_AGE}, not "1e3"`],
  ["--stdin --max-age .5", `${MAX_AGE}, not ".5"`],
  ["--stdin --max-age 5.", `${MAX_AGE}, not "5."`],
  ["--stdin --max-age None", `${MAX_AGE}, not "None"`],
  ["--max-age 15 --message=x", "--max-age requires --stdin"],
  ["--json", "--json requires --stdin"],
  ["--key id --stdin", "--key requires --json"],
  ["--message x --stdin", "--message cannot be used with --stdin"],
  // It would restart what prints and ends, for ever
  ["--journal -h", `-h ${JOURNAL}`, true],
  ["--help --journal", `--help ${JOURNAL}`, true],
  ["--version --journal", `--version ${JOURNAL}`, true],
  ["--foo --journal", 'Unknown flag "--foo"', true],
  // A value is no flag
  ["--foo --message --journal", 'Unknown flag "--foo"'],
  ["--port --journal", `${PORT}, not "--journal"`],
  ["--message=--journal --foo", 'Unknown flag "--foo"'],
];

for (const [args, message, journal = false] of MISTAKES) {
  Deno.test(`parseCommand() rejects ${JSON.stringify(args)}`, () => {
    const text = `${message}\nRun with --help for the list of flags`;
    assertEquals(parse(args), { kind: "invalid", text, journal });
  });
}

Deno.test("parseCommand() returns the help text and the version", () => {
  const help = { kind: "print", text: HELP } as const;
  assertEquals(parse("--help"), help);
  assertEquals(parse("--max-age 1 -h --foo"), help);
  const deno = `Deno ${Deno.version.deno}, ${Deno.build.arch}`;
  const text = `datasensor ${project.version} (${deno})`;
  assertEquals(parse("--version"), { kind: "print", text });
});
