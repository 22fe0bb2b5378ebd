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

/** A flag with a value. */
interface ValueFlag {
  /** Which values are valid, for an error message. */
  readonly valid: string;
  /** Returns what a value sets, or undefined if it is invalid. */
  readonly parse: (value: string) => Settings | undefined;
}

const VALUE_FLAGS = new Map<string, ValueFlag>([
  ["--host", {
    valid: `one of ${HOSTS.join(", ")}`,
    parse: (hostname) => HOSTS.includes(hostname) ? { hostname } : undefined,
  }],
  ["--port", {
    valid: "a whole number from 0 to 65535",
    parse: (value) => {
      const port = Number(value);
      return /^\d+$/.test(value) && port <= 65535 ? { port } : undefined;
    },
  }],
  ["--message", {
    valid: "a non-empty text",
    parse: (message) => message ? { message } : undefined,
  }],
  ["--key", {
    valid: "different names with commas between them, such as model,id",
    parse: (value) => {
      const keys = value.split(",").map((key) => key.trim());
      const isRepeated = new Set(keys).size < keys.length;
      return keys.includes("") || isRepeated ? undefined : { keys };
    },
  }],
  ["--max-age", {
    valid: 'a number of seconds above 0, such as 15 or 0.5, or "none"',
    parse: (value) => {
      if (value === "none") return { maxAgeSeconds: Infinity };
      const maxAgeSeconds = Number(value);
      const isNumber = /^\d+(\.\d+)?$/.test(value);
      return isNumber && maxAgeSeconds > 0 ? { maxAgeSeconds } : undefined;
    },
  }],
]);

/** Tells flags and values apart: a value, after `=` or the flag, may look like a flag. */
function* readArguments(args: readonly string[]) {
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--") continue; // npm users type it before flags
    const equals = arg.indexOf("=", 1);
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const inline = equals < 0 ? undefined : arg.slice(equals + 1);
    const value = equals < 0 && VALUE_FLAGS.has(name) ? args[++index] : inline;
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
    const flag = VALUE_FLAGS.get(name);
    const meaning = flag ? flag.parse(value ?? "") : SWITCHES.get(name);
    const instead = `, not ${JSON.stringify(value)}`;
    if (flag && !meaning) {
      return invalid(`${name} takes ${flag.valid}${value ? instead : ""}`);
    }
    if (!meaning) return invalid(`Unknown flag ${quoted}`);
    if (!flag && value !== undefined) {
      return invalid(`${name} takes no value${instead}`);
    }
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
