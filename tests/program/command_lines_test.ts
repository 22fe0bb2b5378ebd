// Command lines as users type them, with each flag that the README lists: what the
// program then serves or prints, and its exit code.

import { assertEquals, assertMatch } from "@std/assert";
import { HELP } from "../../src/process/command_line.ts";
import { readme } from "../helpers/guide.ts";
import { get } from "../helpers/network.ts";
import { output } from "../helpers/process.ts";
import { Program, programCommand } from "../helpers/program.ts";

/** The exit codes that the README names. */
const [CLEAN, INVALID] = readme
  .match(/code is (\d) after a clean stop, .* and (\d) after\s+invalid/s)
  .slice(1).map(Number);

/** The text that the README calls the default. */
const [, DEFAULT] = readme.match(/serve this text \(default (".*?")\)/);

/** Returns the command that runs the program with flags as a shell reads them. */
function shellCommand(flags: string): [command: string, args: string[]] {
  const run = programCommand([]).flat();
  return ["sh", ["-c", `exec "$@" ${flags}`, "sh", ...run]];
}

/** Flags, the body that is then served, and what the start report begins with. */
const SERVED: [flags: string, body: string, report?: RegExp][] = [
  ["--port 0", DEFAULT!, /^ \* Debug mode: on\n.*\(0\.0\.0\.0\)\n/],
  ["--port=0 --message 'Hello, world'", '"Hello, world"'],
  ["--message --stdin --port 0", '"--stdin"'],
  ["--port 1 --port 0 --debug", DEFAULT!, /^ \* Debug mode: on\n/],
  ["-- --port 0 --no-debug", DEFAULT!, /^ \* Debug mode: off\n/],
  ["--cors --host localhost --port 0", DEFAULT!, /\n .* on http:[^\n]*\nPress/],
  ["--port 0 --journal", DEFAULT!, /^datasensor \S+ \(Deno .*\)\n \* Debug/],
  ["--stdin --port 0", '"21.50"'],
  ["--stdin --json --port 0", "21.50"],
  ["--json --max-age 60.5 --stdin --port 0", "21.50"],
];

for (const [flags, body, report = /^ \*/] of SERVED) {
  Deno.test(`the program serves ${body} with ${flags}, and ends with ${CLEAN}`, async () => {
    const command = shellCommand(flags);
    await using program = new Program(...command, { hasInput: true });
    await program.waitForMatch(/Running on http.*\n/);
    await program.write("21.50\n");
    await program.waitForAnswer(body);
    const { headers, body: rest } = await get(program.url);
    await rest?.cancel();
    const origin = headers.get("access-control-allow-origin");
    assertEquals(origin, flags.includes("--cors") ? "*" : null);
    assertEquals((await program.stop()).code, CLEAN);
    assertMatch(program.stdout, report);
    assertEquals(program.stderr, "");
  });
}

/** Flags that print something instead of serving. */
const PRINTED: [flags: string, printed: string | RegExp][] = [
  ["-h", `${HELP}\n`],
  ["--help", `${HELP}\n`],
  ["--max-age 15 --help", `${HELP}\n`],
  ["--version", /^datasensor \d+\.\d+\.\d+\S* \(Deno [\d.]+, \w+\)\n$/],
];

for (const [flags, printed] of PRINTED) {
  Deno.test(`the program prints a text with ${flags}, and ends with ${CLEAN}`, async () => {
    const { code, stdout, stderr } = await output(...shellCommand(flags));
    assertEquals([code, stderr], [CLEAN, ""]);
    if (typeof printed === "string") assertEquals(stdout, printed);
    else assertMatch(stdout, printed);
  });
}

/** Invalid flags, and what the program says of them. */
const REJECTED: [flags: string, message: string][] = [
  ["--foo", 'Unknown flag "--foo"'],
  ["serve", 'Unexpected argument "serve"'],
  ["--port", "--port takes a whole number from 0 to 65535"],
  [
    "--port 65536",
    '--port takes a whole number from 0 to 65535, not "65536"',
  ],
  [
    "--host 192.0.2.7",
    '--host takes one of 0.0.0.0, ::, 127.0.0.1, ::1, localhost, not "192.0.2.7"',
  ],
  ["--message ''", "--message takes a non-empty text"],
  ["--message x --stdin", "--message cannot be used with --stdin"],
  ["--json", "--json requires --stdin"],
  ["--max-age 15", "--max-age requires --stdin"],
  [
    "--stdin --max-age 0",
    '--max-age takes a number of seconds above 0, such as 15 or 0.5, or "none", not "0"',
  ],
  ["--debug=yes", '--debug takes no value, not "yes"'],
  [
    "--journal --version",
    "<3>--version cannot be used with --journal: the service would end",
  ],
];

for (const [flags, message] of REJECTED) {
  Deno.test(`the program rejects ${flags}, and ends with ${INVALID}`, async () => {
    const { code, stdout, stderr } = await output(...shellCommand(flags));
    assertEquals([code, stdout], [INVALID, ""]);
    const [priority] = message.match(/^(<3>)?/)!;
    const hint = "Run with --help for the list of flags";
    assertEquals(stderr, `${message}\n${priority}${hint}\n`);
  });
}

Deno.test("each flag in the README has a command line that is accepted", () => {
  const rows = readme.block("Usage: ").matchAll(/^ {2}(-.*?) {2,}/gm);
  const names = rows.flatMap(([, row]) =>
    row!.split(", ").map((name) => name.split(" ")[0]!)
  );
  const accepted = [...SERVED, ...PRINTED].map(([flags]) => ` ${flags} `);
  const isAccepted = (name: string) =>
    accepted.some((flags) => flags.includes(` ${name} `));
  assertEquals([...names].filter((name) => !isAccepted(name)), []);
});
