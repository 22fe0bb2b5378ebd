import { assertEquals } from "@std/assert";
import { type Config, HELP, parseCommand } from "../src/config.ts";
import project from "../deno.json" with { type: "json" };

const DEFAULTS: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  message: "Sensor data",
  debug: true,
};

const COMMAND_LINES: [args: string[], config: Partial<Config>][] = [
  [[], {}],
  [["--"], {}],
  [["--port", "1", "--"], { port: 1 }],
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
];

for (const [args, config] of COMMAND_LINES) {
  Deno.test(`parseCommand() parses ${JSON.stringify(args)}`, () => {
    assertEquals(parseCommand(args), {
      kind: "serve",
      config: { ...DEFAULTS, ...config },
    });
  });
}

const PORTS = "--port needs a whole number from 0 to 65535, not ";

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
  [["--", "--port"], 'Unexpected argument "--port"'],
  [["--", "--"], 'Unexpected argument "--"'],
  [["-"], 'Unknown flag "-"'],
  [["--=1"], 'Unknown flag "--"'],
  [["-=1"], 'Unknown flag "-"'],
  [["=--port"], 'Unexpected argument "=--port"'],
  [[""], 'Unexpected argument ""'],
  [["--port"], `${PORTS}""`],
  [["--port="], `${PORTS}""`],
  [["--port", "http"], `${PORTS}"http"`],
  [["--port", "65536"], `${PORTS}"65536"`],
  [["--port", "-1"], `${PORTS}"-1"`],
  [["--port", "80.5"], `${PORTS}"80.5"`],
  [["--port", "1e3"], `${PORTS}"1e3"`],
  [["--port", "0x50"], `${PORTS}"0x50"`],
  [["--port", " 80"], `${PORTS}" 80"`],
  [["--port", "٣"], `${PORTS}"٣"`],
  [["--port", "--debug"], `${PORTS}"--debug"`],
  [["--host"], '--host needs an address, not ""'],
  [["--host", ""], '--host needs an address, not ""'],
  [["--message"], '--message needs a text, not ""'],
  [["--message="], '--message needs a text, not ""'],
  [["--debug="], '--debug takes no value, not ""'],
  [["--debug=no"], '--debug takes no value, not "no"'],
  [["--no-debug=1"], '--no-debug takes no value, not "1"'],
  [["--help=port"], '--help takes no value, not "port"'],
  [["--help", "--foo"], 'Unknown flag "--foo"'],
];

for (const [args, sentence] of MISTAKES) {
  Deno.test(`parseCommand() refuses ${JSON.stringify(args)}`, () => {
    assertEquals(parseCommand(args), {
      kind: "usage",
      text: `${sentence}\nRun with --help to see the flags\n`,
    });
  });
}

Deno.test("parseCommand() gives the help text and the version of deno.json", () => {
  assertEquals(parseCommand(["--help"]), { kind: "print", text: HELP });
  const version = { kind: "print", text: `${project.version}\n` } as const;
  assertEquals(parseCommand(["--version"]), version);
});

Deno.test("parseCommand() names its defaults in the help text", () => {
  for (const value of ["0.0.0.0", "5000", '"Sensor data"', "--debug"]) {
    assertEquals(HELP.includes(`(default ${value}`), true, value);
  }
});
