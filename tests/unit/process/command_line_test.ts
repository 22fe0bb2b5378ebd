// The command line: which arguments are accepted, and what they mean.

import { assert, assertEquals } from "@std/assert";
import { HELP, parseCommand } from "../../../src/process/command_line.ts";
import type { Config, InputSource } from "../../../src/config.ts";
import project from "../../../deno.json" with { type: "json" };

/** What the service does without a flag. */
const DEFAULTS: Config = {
  hostname: "0.0.0.0",
  port: 5000,
  source: { kind: "text", text: "Sensor data" },
  cors: false,
  journal: false,
  debug: true,
};

/** Returns the settings of standard input. */
const input = (source: Partial<InputSource> = {}): Partial<Config> => ({
  source: {
    kind: "input",
    line: { kind: "text" },
    maxAgeSeconds: 300,
    ...source,
  },
});
const text = (text: string): Partial<Config> => ({
  source: { kind: "text", text },
});

const COMMAND_LINES: [args: string[], config: Partial<Config>][] = [
  [[], {}],
  [["--port=65535"], { port: 65535 }],
  [["--port", "1", "--port", "2"], { port: 2 }],
  [["--message", "--", "--no-debug"], { ...text("--"), debug: false }],
  [["--message=a=b\n=°"], text("a=b\n=°")],
  [["--no-debug", "--debug"], { debug: true }],
  [["--stdin"], input()],
  [["--max-age=0.5", "--stdin"], input({ maxAgeSeconds: 0.5 })],
  [["--stdin", "--max-age=none"], input({ maxAgeSeconds: Infinity })],
  [["--json", "--stdin"], input({ line: { kind: "json", keys: undefined } })],
  [
    ["--key=model,a b,__proto__", "--json", "--stdin"],
    input({ line: { kind: "json", keys: ["model", "a b", "__proto__"] } }),
  ],
  [["--cors", "--journal"], { cors: true, journal: true }],
  [["--", "--port", "1"], { port: 1 }],
];

for (const [args, config] of COMMAND_LINES) {
  Deno.test(`parseCommand() accepts ${JSON.stringify(args)}`, () => {
    const settings = { ...DEFAULTS, ...config };
    assertEquals(parseCommand(args), { kind: "serve", config: settings });
  });
}

const MISTAKES: [args: string[], message: string][] = [
  [["--\x1b[31m"], 'Unknown flag "--\\u001b[31m"'],
  [["--foo", "--help"], 'Unknown flag "--foo"'],
  [[""], 'Unexpected argument ""'],
  [["--port=", "80"], "--port takes a whole number from 0 to 65535"],
  [["--message="], "--message takes a non-empty text"],
  [["--debug="], '--debug takes no value, not ""'],
  [["--max-age", "15", "--message=x"], "--max-age requires --stdin"],
  [["--json"], "--json requires --stdin"],
  [["--key", "id", "--stdin"], "--key requires --json"],
  [["--message", "x", "--stdin"], "--message cannot be used with --stdin"],
];

/** Invalid values of each flag, and its description of valid ones. */
const VALUES: [args: string[], valid: string, invalid: string[]][] = [
  [
    ["--port"],
    "a whole number from 0 to 65535",
    ["65536", "80.5", " 80", "--debug"],
  ],
  [
    ["--host"],
    "one of 0.0.0.0, ::, 127.0.0.1, ::1, localhost",
    ["127.0.0.11"],
  ],
  [
    ["--stdin", "--json", "--key"],
    "different names with commas between them, such as model,id",
    ["a,,b", "id,id"],
  ],
  [
    ["--stdin", "--max-age"],
    'a number of seconds above 0, such as 15 or 0.5, or "none"',
    ["0", "1e3", ".5", "5.", "None"],
  ],
];

function testMistake(args: string[], message: string): void {
  Deno.test(`parseCommand() rejects ${JSON.stringify(args)}`, () => {
    const text = `${message}\nRun with --help for the list of flags`;
    const command = { kind: "invalid", text, journal: false } as const;
    assertEquals(parseCommand(args), command);
  });
}

for (const [args, message] of MISTAKES) testMistake(args, message);

for (const [args, valid, values] of VALUES) {
  const message = `${args.at(-1)} takes ${valid}`;
  testMistake(args, message);
  for (const value of values) {
    testMistake([...args, value], `${message}, not "${value}"`);
  }
}

Deno.test("parseCommand() returns the help text and the version", () => {
  const help = { kind: "print", text: HELP } as const;
  assertEquals(parseCommand(["--help"]), help);
  assertEquals(parseCommand(["--max-age", "1", "-h", "--foo"]), help);
  const deno = `Deno ${Deno.version.deno}, ${Deno.build.arch}`;
  const text = `datasensor ${project.version} (${deno})`;
  assertEquals(parseCommand(["--version"]), { kind: "print", text });
});

Deno.test("parseCommand() prints nothing for systemd, which would restart it forever", () => {
  for (const flag of ["-h", "--help", "--version"]) {
    for (const args of [["--journal", flag], [flag, "--journal"]]) {
      const reason = "cannot be used with --journal: the service would end";
      const text = `${flag} ${reason}\nRun with --help for the list of flags`;
      const command = { kind: "invalid", text, journal: true } as const;
      assertEquals(parseCommand(args), command);
    }
  }
});

Deno.test("parseCommand() tells whether invalid usage is of systemd: a value never counts as a flag", () => {
  const lines: [args: string[], journal: boolean][] = [
    [["--journal", "--foo"], true],
    [["--foo", "--journal"], true],
    [["--foo", "--message", "--journal"], false],
    [["--port", "--journal"], false],
    [["--message=--journal", "--foo"], false],
  ];
  for (const [args, journal] of lines) {
    const command = parseCommand(args);
    assert(command.kind === "invalid", `${args}`);
    assertEquals(command.journal, journal, `${args}`);
  }
});

Deno.test("HELP fits in 80 columns", () => {
  for (const line of HELP.split("\n")) assert(line.length <= 80, line);
});
