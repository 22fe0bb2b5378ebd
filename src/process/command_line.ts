import { type Config, DEFAULTS } from "../config.ts";
import { VERSION } from "../version.ts";

/** What the command line asks for. The text of invalid usage says what is wrong. */
export type Command =
  | { kind: "serve"; config: Config }
  | { kind: "print"; text: string }
  | { kind: "invalid"; text: string; journal: boolean };

/** The settings of some flags. */
type Settings = Partial<Config>;

/** The addresses on which the program is permitted to listen. */
const HOSTS = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"];

/** The text of `--help`. */
export const HELP = `Usage: datasensor [flags]

Serves a sensor reading as JSON over HTTP, at /datasensor.

  --host ADDRESS       listen on 0.0.0.0 (all IPv4 addresses), :: (IPv6 too),
                       127.0.0.1, ::1 or localhost (default ${DEFAULTS.hostname})
  --port PORT          listen on this port; 0 picks a free one (default ${DEFAULTS.port})
  --message TEXT       serve this text (default "${DEFAULTS.message}"), not with --stdin
  --stdin              serve the last line of standard input as a JSON string,
                       and also /metrics for Prometheus, all sensors at
                       /sensors, the last day at /history, and a page at /
  --json               with --stdin: each line is JSON, and served unchanged
  --key KEY[,KEY...]   with --json: serve an object with the last line of each
                       sensor, named by the values of these keys, and each at
                       /datasensor/NAME
  --max-age SECONDS    with --stdin: answer 503 once the last reading is older
                       than this; "none": no limit (default ${DEFAULTS.maxAgeSeconds})
  --cors               allow web pages of any origin to read the responses
  --journal            for systemd: log to standard error with priorities, and
                       retry while another program uses the port
  --debug, --no-debug  log errors with or without their stack (default --debug)
  -h, --help           print this help
  --version            print the version`;

/** The flags without a value, and what they set or print. */
const SWITCHES = new Map<string, Settings | string>([
  ["--stdin", { stdin: true }],
  ["--json", { json: true }],
  ["--cors", { cors: true }],
  ["--journal", { journal: true }],
  ["--debug", { debug: true }],
  ["--no-debug", { debug: false }],
  ["-h", HELP],
  ["--help", HELP],
  ["--version", VERSION],
]);

/** The flags with a value, and which values are valid, for an error message. */
const VALID = new Map([
  ["--host", `one of ${HOSTS.join(", ")}`],
  ["--port", "a whole number from 0 to 65535"],
  ["--message", "a non-empty text"],
  ["--key", "different names with commas between them, such as model,id"],
  ["--max-age", 'a number of seconds above 0, such as 15 or 0.5, or "none"'],
]);

/** Returns what a value of a flag sets, or undefined if it is invalid. */
function parseValue(name: string, value: string): Settings | undefined {
  const number = Number(value);
  const keys = value.split(",").map((key) => key.trim());
  switch (name) {
    case "--host":
      return HOSTS.includes(value) ? { hostname: value } : undefined;
    case "--port":
      return /^\d+$/.test(value) && number <= 65535
        ? { port: number }
        : undefined;
    case "--message":
      return { message: value };
    case "--key":
      return keys.includes("") || new Set(keys).size < keys.length
        ? undefined
        : { keys };
    case "--max-age":
      if (value === "none") return { maxAgeSeconds: Infinity };
      return /^\d+(\.\d+)?$/.test(value) && number > 0
        ? { maxAgeSeconds: number }
        : undefined;
  }
}

/** Tells flags and values apart: a value, after `=` or the flag, may look like a flag. */
function* readArguments(args: readonly string[]) {
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--") continue; // npm users type it before flags
    const equals = arg.indexOf("=", 1);
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const inline = equals < 0 ? undefined : arg.slice(equals + 1);
    const value = equals < 0 && VALID.has(name) ? args[++index] : inline;
    yield { arg, name, value };
  }
}

/**
 * Parses the command line. If a flag is repeated, its last value counts. `parseArgs` of
 * `node:util` would load Node's compatibility layer, as setTimeout would: see clock.ts.
 */
export function parseCommand(args: readonly string[]): Command {
  const given = [...readArguments(args)];
  // Known before the first error, whose text needs a priority under systemd
  const journal = given.some(({ arg }) => arg === "--journal");
  const invalid = (message: string): Command => ({
    kind: "invalid",
    text: `${message}\nRun with --help for the list of flags`,
    journal,
  });
  let settings: Settings = {};
  for (const { arg, name, value } of given) {
    const quoted = JSON.stringify(arg);
    if (!arg.startsWith("-")) return invalid(`Unexpected argument ${quoted}`);
    const valid = VALID.get(name);
    const not = value === undefined ? "" : `, not ${JSON.stringify(value)}`;
    if (!valid && !SWITCHES.has(name)) return invalid(`Unknown flag ${quoted}`);
    if (!valid && not) return invalid(`${name} takes no value${not}`);
    if (valid && !value) return invalid(`${name} takes ${valid}`);
    const meaning = value ? parseValue(name, value) : SWITCHES.get(name);
    if (meaning === undefined) return invalid(`${name} takes ${valid}${not}`);
    if (typeof meaning === "string") {
      // systemd would restart the service forever after a clean exit
      const problem = "cannot be used with --journal: the service would end";
      return journal
        ? invalid(`${name} ${problem}`)
        : { kind: "print", text: meaning };
    }
    settings = { ...settings, ...meaning };
  }
  const conflict = findConflict(settings);
  if (conflict) return invalid(conflict);
  return { kind: "serve", config: { ...DEFAULTS, ...settings } };
}

/** Returns what is wrong with flags that exclude or require each other, if anything is. */
function findConflict(
  { message, stdin, json, keys, maxAgeSeconds }: Settings,
): string | undefined {
  if (json && !stdin) return "--json requires --stdin";
  if (keys && !json) return "--key requires --json";
  if (maxAgeSeconds !== undefined && !stdin) {
    return "--max-age requires --stdin";
  }
  if (message !== undefined && stdin) {
    return "--message cannot be used with --stdin";
  }
}
