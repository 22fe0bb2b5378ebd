// The settings, their defaults and the command line that changes them.

import project from "../deno.json" with { type: "json" };

/** What the service is told at its start. */
export interface Config {
  /** The address to listen on. @default {"0.0.0.0"} */
  hostname: string;
  /** The TCP port to listen on; 0 takes a free one. @default {5000} */
  port: number;
  /** The text that stands for the sensor's data. @default {"Sensor data"} */
  message: string;
  /** Whether the console shows the stacks of errors. @default {true} */
  debug: boolean;
}

/** What a command line asks for. */
export type Command =
  | { kind: "serve"; config: Config }
  | { kind: "print"; text: string }
  /** A mistake of the user's: the text says which, and how to get help. */
  | { kind: "usage"; text: string };

/** The text of `--help`. */
export const HELP = `Usage: datasensor [flags]

Serves a piece of sensor data as one JSON string at /datasensor.

  --host ADDRESS       listen on 0.0.0.0, ::, 127.0.0.1, ::1 or localhost
                       (default 0.0.0.0: every IPv4 address of this machine)
  --port PORT          listen on this port; 0 takes a free one (default 5000)
  --message TEXT       answer with this text (default "Sensor data")
  --debug, --no-debug  show the stack of an error on the console, or do not
                       (default --debug)
  --help               print this text
  --version            print the version
`;

const WITH_VALUE = ["--host", "--port", "--message"];

/**
 * Parses the command line. Of a flag that is given twice, the last one counts.
 *
 * Not with parseArgs of node:util, which loads Node.js's layer: see delay().
 *
 * @param args The arguments, without the program's name.
 */
export function parseCommand(args: readonly string[]): Command {
  const config: Config = {
    hostname: "0.0.0.0",
    port: 5000,
    message: "Sensor data",
    debug: true,
  };
  let text: string | undefined;
  const rest = args.values();
  for (const arg of rest) {
    // Behind "--" there are no flags, and nothing else is taken
    const operand = arg === "--" ? rest.next().value : arg;
    if (operand === undefined) break;
    if (arg === "--" || !arg.startsWith("-")) {
      return usage(`Unexpected argument ${JSON.stringify(operand)}`);
    }
    const [, flag = arg, inlineValue] = arg.match(/^(.+?)=(.*)$/s) ?? [];
    const takesNext = inlineValue === undefined && WITH_VALUE.includes(flag);
    const value = (takesNext ? rest.next().value : inlineValue) ?? "";
    const quoted = JSON.stringify(value);
    switch (flag) {
      case "--host":
        if (value === "") return usage(`${flag} needs an address, not ""`);
        config.hostname = value;
        continue;
      case "--port":
        if (!/^\d+$/.test(value) || Number(value) > 65535) {
          const range = "a whole number from 0 to 65535";
          return usage(`${flag} needs ${range}, not ${quoted}`);
        }
        config.port = Number(value);
        continue;
      case "--message":
        if (value === "") return usage(`${flag} needs a text, not ""`);
        config.message = value;
        continue;
      case "--debug":
      case "--no-debug":
        config.debug = flag === "--debug";
        break;
      case "--help":
        text = HELP;
        break;
      case "--version":
        text ??= `${project.version}\n`;
        break;
      default:
        return usage(`Unknown flag ${JSON.stringify(flag)}`);
    }
    if (inlineValue !== undefined) {
      return usage(`${flag} takes no value, not ${quoted}`);
    }
  }
  if (text !== undefined) return { kind: "print", text };
  return { kind: "serve", config };
}

function usage(message: string): Command {
  const text = `${message}\nRun with --help to see the flags\n`;
  return { kind: "usage", text };
}
