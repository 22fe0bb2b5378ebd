// The command line: what each argument means, and what is refused.

import { assertEquals } from "@std/assert";
import { HELP, parseCommand } from "../../src/command_line.ts";
import { type Config, DEFAULTS } from "../../src/config.ts";
import project from "../../deno.json" with { type: "json" };

const SPECIFIED: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  stdin: false,
  json: false,
  maxAge: Infinity,
  cors: false,
  journal: false,
  debug: true,
};

Deno.test("DEFAULTS are those of the specification", () => {
  assertEquals(DEFAULTS, SPECIFIED);
});

const COMMAND_LINES: [args: string[], config: Partial<Config>][] = [
  [[], {}],
  [["--host", "::"], { hostname: "::" }],
  [["--host=127.0.0.1"], { hostname: "127.0.0.1" }],
  [["--port", "0"], { port: 0 }],
  [["--port=65535"], { port: 65535 }],
  [["--port", "1", "--port", "2"], { port: 2 }],
  [["--message", "21.5 °C"], { message: "21.5 °C" }],
  [["--message=--debug"], { message: "--debug" }],
  [["--message= "], { message: " " }],
  [["--message", "--debug"], { message: "--debug" }],
  [["--message", "--", "--no-debug"], { message: "--", debug: false }],
  [["--message=a=b\n=c"], { message: "a=b\n=c" }],
  [["--no-debug"], { debug: false }],
  [["--no-debug", "--debug"], { debug: true }],
  [["--debug", "--no-debug"], { debug: false }],
  [["--stdin"], { stdin: true }],
  [["--stdin", "--max-age", "15"], { stdin: true, maxAge: 15 }],
  [["--max-age=0.5", "--stdin"], { stdin: true, maxAge: 0.5 }],
  [["--json", "--stdin"], { stdin: true, json: true }],
  [["--cors"], { cors: true }],
  [["--journal"], { journal: true }],
  [["--", "--port", "1"], { port: 1 }],
];

for (const [args, config] of COMMAND_LINES) {
  Deno.test(`parseCommand() parses ${JSON.stringify(args)}`, () => {
    assertEquals(parseCommand(args), {
      kind: "serve",
      config: { ...SPECIFIED, ...config },
    });
  });
}

const PORTS = "--port takes a whole number from 0 to 65535, not ";

const HOSTS = "--host takes 0.0.0.0, ::, 127.0.0.1, ::1 or localhost, not ";

const MISTAKES: [args: string[], sentence: string][] = [
  [["--foo"], 'Unknown flag "--foo"'],
  [["--foo=1"], 'Unknown flag "--foo"'],
  [["--Port", "1"], 'Unknown flag "--Port"'],
  [["--no-port"], 'Unknown flag "--no-port"'],
  [["--toString"], 'Unknown flag "--toString"'],
  [["-p", "1"], 'Unknown flag "-p"'],
  [["--\x1b[31m"], 'Unknown flag "--\\u001b[31m"'],
  [["5001"], 'Unexpected argument "5001"'],
  [["--debug", "yes"], 'Unexpected argument "yes"'],
  [["-"], 'Unknown flag "-"'],
  [["--=1"], 'Unknown flag "--"'],
  [["-=1"], 'Unknown flag "-"'],
  [["=--port"], 'Unexpected argument "=--port"'],
  [[""], 'Unexpected argument ""'],
  [["--port"], `${PORTS}""`],
  [["--port="], `${PORTS}""`],
  [["--port=", "80"], `${PORTS}""`],
  [["--port", "http"], `${PORTS}"http"`],
  [["--port", "65536"], `${PORTS}"65536"`],
  [["--port", "-1"], `${PORTS}"-1"`],
  [["--port", "80.5"], `${PORTS}"80.5"`],
  [["--port", "1e3"], `${PORTS}"1e3"`],
  [["--port", "0x50"], `${PORTS}"0x50"`],
  [["--port", " 80"], `${PORTS}" 80"`],
  [["--port", "٣"], `${PORTS}"٣"`],
  [["--port", "--debug"], `${PORTS}"--debug"`],
  [["--host"], `${HOSTS}""`],
  [["--host", "10.9.9.9"], `${HOSTS}"10.9.9.9"`],
  [["--host", "127.0.0.11"], `${HOSTS}"127.0.0.11"`],
  [["--message"], '--message takes a text, not ""'],
  [["--message="], '--message takes a text, not ""'],
  [["--debug="], '--debug takes no value, not ""'],
  [["--debug=no"], '--debug takes no value, not "no"'],
  [["--no-debug=1"], '--no-debug takes no value, not "1"'],
  [["--max-age", "15"], "--max-age requires --stdin"],
  [["--max-age", "15", "--message=x"], "--max-age requires --stdin"],
  [["--json"], "--json requires --stdin"],
  [["--message", "x", "--stdin"], "--message cannot be used with --stdin"],
  [["--stdin=1"], '--stdin takes no value, not "1"'],
  [["--cors=*"], '--cors takes no value, not "*"'],
  ...["", "0", "0.0", "-1", "1e3", ".5", "5.", "15s", "Infinity", " 1"].map((
    age,
  ): [args: string[], sentence: string] => [
    ["--stdin", "--max-age", age],
    `--max-age takes a number above 0, such as 15 or 0.5, not "${age}"`,
  ]),
  [["--help=port"], 'Unknown flag "--help"'],
  [["--foo", "--help"], 'Unknown flag "--foo"'],
];

for (const [args, sentence] of MISTAKES) {
  Deno.test(`parseCommand() refuses ${JSON.stringify(args)}`, () => {
    assertEquals(parseCommand(args), {
      kind: "usage",
      text: `${sentence}\nRun with --help for the list of flags`,
    });
  });
}

Deno.test("parseCommand() returns the help text and the version", () => {
  const help = { kind: "print", text: HELP } as const;
  assertEquals(parseCommand(["--help"]), help);
  assertEquals(parseCommand(["--max-age", "1", "-h", "--foo"]), help);
  const version = { kind: "print", text: project.version } as const;
  assertEquals(parseCommand(["--version"]), version);
});

Deno.test("HELP lists every flag, and the defaults", () => {
  for (const [args] of COMMAND_LINES) {
    for (const name of args.join("=").match(/--[a-z]+(-[a-z]+)*/g) ?? []) {
      assertEquals(HELP.includes(` ${name}`), true, name);
    }
  }
  for (const value of ["0.0.0.0", "5000", '"Sensor data"', "--debug"]) {
    assertEquals(HELP.includes(`(default ${value}`), true, value);
  }
});

Deno.test("HELP fits a terminal of 80 columns", () => {
  for (const line of HELP.split("\n")) assertEquals(line.length <= 80, true);
});
