import project from "../../deno.json" with { type: "json" };
import { type Config, DEFAULTS } from "../config.ts";

/** What the command line asks for. The text of invalid usage says what is wrong. */
export type Command =
  | { kind: "serve"; config: Config }
  | { kind: "print" | "invalid"; text: string };

/** The text of `--help`. */
export const HELP = `Usage: datasensor [flags]

Serves a sensor reading as JSON over HTTP, at /datasensor.

  --host ADDRESS       listen on 0.0.0.0 (all IPv4 addresses), :: (IPv6 too),
                       127.0.0.1, ::1 or localhost (default 0.0.0.0)
  --port PORT          listen on this port; 0 picks a free one (default 5000)
  --message TEXT       serve this text (default "Sensor data"), not with --stdin
  --stdin              serve the last line of standard input as a JSON string
  --json               with --stdin: each line is JSON, served unchanged
  --max-age SECONDS    with --stdin: answer 503 once the last reading is older
                       than this (default: no limit)
  --cors               allow web pages of any origin to read the responses
  --journal            for systemd: prefix log messages with a priority, and
                       retry until it can listen
  --debug, --no-debug  log errors with or without their stack (default --debug)
  -h, --help           print this help
  --version            print the version`;

/** The text of `--version`. It names Deno, too, since an executable contains it. */
export const VERSION =
  `datasensor ${project.version} (Deno ${Deno.version.deno}, ${Deno.build.arch})`;

/** The addresses on which the program is permitted to listen. */
const HOSTS = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"];

interface Flag {
  takes?: string; // describes the valid values, if the flag takes one
  parse(value: string): Partial<Config> | false; // false if invalid
}

/** The flags that set something, by name. */
export const FLAGS: Record<string, Flag> = {
  "--host": {
    takes: `one of ${HOSTS.join(", ")}`,
    parse: (hostname) => HOSTS.includes(hostname) && { hostname },
  },
  "--port": {
    takes: "a whole number from 0 to 65535",
    parse: (value) =>
      /^\d+$/.test(value) && Number(value) <= 65535 &&
      { port: Number(value) },
  },
  "--message": {
    takes: "a non-empty text",
    parse: (message) => message !== "" && { message },
  },
  "--stdin": { parse: () => ({ stdin: true }) },
  "--json": { parse: () => ({ json: true }) },
  "--max-age": {
    takes: "a number of seconds above 0, such as 15 or 0.5",
    parse: (value) =>
      /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 &&
      { maxAgeSeconds: Number(value) },
  },
  "--cors": { parse: () => ({ cors: true }) },
  "--journal": { parse: () => ({ journal: true }) },
  "--debug": { parse: () => ({ debug: true }) },
  "--no-debug": { parse: () => ({ debug: false }) },
};

/**
 * Parses the command line. If a flag is repeated, its last value counts. `parseArgs` of
 * `node:util` would load Node's compatibility layer: 8 ms at the start, and 4 MB.
 */
export function parseCommand(args: readonly string[]): Command {
  let config: Config = DEFAULTS;
  const names = new Set<string>();
  const rest = args.values();
  const invalid = (message: string): Command => ({
    kind: "invalid",
    text: `${message}\nRun with --help for the list of flags`,
  });
  for (const arg of rest) {
    if (arg === "--") continue; // npm users type it before flags
    if (arg === "-h" || arg === "--help") return { kind: "print", text: HELP };
    if (arg === "--version") return { kind: "print", text: VERSION };
    const quoted = JSON.stringify(arg);
    if (!arg.startsWith("-")) return invalid(`Unexpected argument ${quoted}`);
    const [, name = arg, inline] = arg.match(/^(.+?)=(.*)$/s) ?? [];
    const flag = FLAGS[name];
    if (!flag) return invalid(`Unknown flag ${quoted}`);
    if (!flag.takes && inline !== undefined) {
      return invalid(`${name} takes no value, not ${JSON.stringify(inline)}`);
    }
    const value = inline ?? (flag.takes ? rest.next().value : undefined) ?? "";
    const change = flag.parse(value);
    if (!change) {
      const given = value && `, not ${JSON.stringify(value)}`;
      return invalid(`${name} takes ${flag.takes}${given}`);
    }
    config = { ...config, ...change };
    names.add(name);
  }
  if (config.stdin && names.has("--message")) {
    return invalid("--message cannot be used with --stdin");
  }
  const flag = ["--json", "--max-age"].find((name) => names.has(name));
  if (flag && !config.stdin) return invalid(`${flag} requires --stdin`);
  return { kind: "serve", config };
}
