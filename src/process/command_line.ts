import {
  type Config,
  DEFAULTS,
  type InputSource,
  PROGRAM_VERSION,
  type TextSource,
} from "../config.ts";

/** What the command line asks for. The text of invalid usage says what is wrong. */
export type Command =
  | { kind: "serve"; config: Config }
  | { kind: "print"; text: string }
  | { kind: "invalid"; text: string; journal: boolean };

/** The text of `--version`. It names Deno, too, since an executable contains it. */
export const VERSION =
  `datasensor ${PROGRAM_VERSION} (Deno ${Deno.version.deno}, ${Deno.build.arch})`;

/** The settings as flags set them. */
interface Settings extends Partial<Omit<Config, "source" | "journal">> {
  readonly message?: string;
  readonly stdin?: true;
  readonly json?: true;
  readonly keys?: readonly string[];
  readonly maxAgeSeconds?: number;
}

/** A flag, from which its help and its parser follow. */
export interface Flag {
  /** Its names, such as `--debug` and `--no-debug`. */
  readonly names: readonly string[];
  /** What the help says of it, in lines of up to 57 columns. */
  readonly help: readonly string[];
  /** Its value, if it takes one. */
  readonly value?: {
    /** What the help calls it, such as `PORT`. */
    readonly name: string;
    /** Describes the valid ones, for an error message. */
    readonly valid: string;
  };
  /**
   * Returns what it sets, a text to print instead of serving, or undefined if its value is
   * invalid. The value of a flag that takes none is empty.
   */
  parse(value: string, name: string): Settings | string | undefined;
}

/** The addresses on which the program is permitted to listen. */
const HOSTS = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"];

/** All flags. */
export const FLAGS: readonly Flag[] = [
  {
    names: ["--host"],
    value: { name: "ADDRESS", valid: `one of ${HOSTS.join(", ")}` },
    help: [
      "listen on 0.0.0.0 (all IPv4 addresses), :: (IPv6 too),",
      `127.0.0.1, ::1 or localhost (default ${DEFAULTS.hostname})`,
    ],
    parse: (hostname) => HOSTS.includes(hostname) ? { hostname } : undefined,
  },
  {
    names: ["--port"],
    value: { name: "PORT", valid: "a whole number from 0 to 65535" },
    help: [
      `listen on this port; 0 picks a free one (default ${DEFAULTS.port})`,
    ],
    parse: (value) => {
      const port = Number(value);
      return /^\d+$/.test(value) && port <= 65535 ? { port } : undefined;
    },
  },
  {
    names: ["--message"],
    value: { name: "TEXT", valid: "a non-empty text" },
    help: [`serve this text (default "${DEFAULTS.message}"), not with --stdin`],
    parse: (message) => ({ message }),
  },
  {
    names: ["--stdin"],
    help: [
      "serve the last line of standard input as a JSON string,",
      "and also /metrics for Prometheus, all sensors at",
      "/sensors, the last day at /history, and a page at /",
    ],
    parse: () => ({ stdin: true }),
  },
  {
    names: ["--json"],
    help: [
      "with --stdin: each line is JSON, and served unchanged",
    ],
    parse: () => ({ json: true }),
  },
  {
    names: ["--key"],
    value: {
      name: "KEY[,KEY...]",
      valid: "different names with commas between them, such as model,id",
    },
    help: [
      "with --json: serve an object with the last line of each",
      "sensor, named by the values of these keys, and each at",
      "/datasensor/NAME",
    ],
    parse: (value) => {
      const keys = value.split(",");
      const isValid = keys.every((key) => key !== "") &&
        new Set(keys).size === keys.length;
      return isValid ? { keys } : undefined;
    },
  },
  {
    names: ["--max-age"],
    value: {
      name: "SECONDS",
      valid: 'a number of seconds above 0, such as 15 or 0.5, or "none"',
    },
    help: [
      "with --stdin: answer 503 once the last reading is older",
      `than this; "none": no limit (default ${DEFAULTS.maxAgeSeconds})`,
    ],
    parse: (value) => {
      if (value === "none") return { maxAgeSeconds: Infinity };
      const maxAgeSeconds = Number(value);
      const isValid = /^\d+(\.\d+)?$/.test(value) && maxAgeSeconds > 0;
      return isValid ? { maxAgeSeconds } : undefined;
    },
  },
  {
    names: ["--cors"],
    help: ["allow web pages of any origin to read the responses"],
    parse: () => ({ cors: true }),
  },
  {
    names: ["--journal"],
    help: [
      "for systemd: log to standard error with priorities, and",
      "retry while another program uses the port",
    ],
    parse: () => ({}), // parseCommand() has seen it before it parses any flag
  },
  {
    names: ["--debug", "--no-debug"],
    help: ["log errors with or without their stack (default --debug)"],
    parse: (_, name) => ({ debug: name === "--debug" }),
  },
  {
    names: ["-h", "--help"],
    help: ["print this help"],
    parse: () => HELP,
  },
  {
    names: ["--version"],
    help: ["print the version"],
    parse: () => VERSION,
  },
];

const HELP_COLUMN = 23; // after the names of the flags

/** The text of `--help`. */
export const HELP = `Usage: datasensor [flags]

Serves a sensor reading as JSON over HTTP, at /datasensor.

${FLAGS.map(formatFlag).join("\n")}`;

function formatFlag({ names, value, help }: Flag): string {
  const flag = `  ${names.join(", ")}${value ? ` ${value.name}` : ""}`;
  const indent = " ".repeat(HELP_COLUMN);
  return flag.padEnd(HELP_COLUMN) + help.join(`\n${indent}`);
}

/** Tells flags and values apart: a value, after `=` or the flag, may look like a flag. */
function* readArguments(args: readonly string[]) {
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === "--") continue; // npm users type it before flags
    const equals = arg.indexOf("=", 1);
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const inline = equals < 0 ? undefined : arg.slice(equals + 1);
    const flag = FLAGS.find(({ names }) => names.includes(name));
    const takesNext = flag?.value && inline === undefined;
    const value = takesNext ? args[++index] : inline;
    yield { arg, name, flag, value };
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
  for (const { arg, name, flag, value } of given) {
    const quoted = JSON.stringify(arg);
    if (!arg.startsWith("-")) return invalid(`Unexpected argument ${quoted}`);
    if (!flag) return invalid(`Unknown flag ${quoted}`);
    if (!flag.value && value !== undefined) {
      return invalid(`${name} takes no value, not ${JSON.stringify(value)}`);
    }
    if (flag.value && !value) {
      return invalid(`${name} takes ${flag.value.valid}`);
    }
    const parsed = flag.parse(value ?? "", name);
    if (parsed === undefined) {
      const { valid } = flag.value!;
      return invalid(`${name} takes ${valid}, not ${JSON.stringify(value)}`);
    }
    if (typeof parsed === "string") {
      // systemd would restart the service forever after a clean exit
      const problem = "cannot be used with --journal: the service would end";
      return journal
        ? invalid(`${name} ${problem}`)
        : { kind: "print", text: parsed };
    }
    settings = { ...settings, ...parsed };
  }
  const source = chooseSource(settings);
  if (typeof source === "string") return invalid(source);
  const { hostname, port, cors, debug } = { ...DEFAULTS, ...settings };
  const config = { hostname, port, source, cors, journal, debug };
  return { kind: "serve", config };
}

/** Returns what to serve, or what is wrong with flags that exclude or require each other. */
function chooseSource(
  { message, stdin, json, keys, maxAgeSeconds }: Settings,
): TextSource | InputSource | string {
  if (!stdin && json) return "--json requires --stdin";
  if (!json && keys) return "--key requires --json";
  if (!stdin) {
    if (maxAgeSeconds !== undefined) return "--max-age requires --stdin";
    return { kind: "text", text: message ?? DEFAULTS.message };
  }
  if (message !== undefined) return "--message cannot be used with --stdin";
  return {
    kind: "input",
    line: json ? { kind: "json", keys } : { kind: "text" },
    maxAgeSeconds: maxAgeSeconds ?? DEFAULTS.maxAgeSeconds,
  };
}
