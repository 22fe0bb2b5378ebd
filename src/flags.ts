// The one table of flags, from which the parsing, the usage sentences and the
// help text come.

import project from "../deno.json" with { type: "json" };
import { type Config, DEFAULTS } from "./config.ts";

/** A flag of the command line. */
export interface Flag {
  names: string[];
  /** What stands for the flag's value in the help text, if it has one. */
  value?: string;
  /** What the value must be. */
  needs?: string;
  help: string[];
  /** The flag without which this one means nothing. */
  with?: string;
  /** The flag that contradicts this one. */
  without?: string;
  /** Returns what the flag changes, or undefined for a wrong value. */
  set(value: string, name: string): Partial<Config> | undefined;
  /** Returns what to print instead of serving. */
  print?(): string;
}

/** Every flag, in the order of the help text. */
export const FLAGS: Flag[] = [
  {
    names: ["--host"],
    value: "ADDRESS",
    needs: "an address",
    help: [
      "listen on 0.0.0.0, ::, 127.0.0.1, ::1 or localhost",
      `(default ${DEFAULTS.hostname}: every IPv4 address of this machine)`,
    ],
    set: (value) => value ? { hostname: value } : undefined,
  },
  {
    names: ["--port"],
    value: "PORT",
    needs: "a whole number from 0 to 65535",
    help: [
      `listen on this port; 0 takes a free one (default ${DEFAULTS.port})`,
    ],
    set: (value) =>
      /^\d+$/.test(value) && Number(value) <= 65535
        ? { port: Number(value) }
        : undefined,
  },
  {
    names: ["--message"],
    value: "TEXT",
    needs: "a text",
    help: [`answer with this text (default "${DEFAULTS.message}")`],
    set: (value) => value ? { message: value } : undefined,
  },
  {
    names: ["--stdin"],
    help: ["answer with the last line of standard input"],
    without: "--message",
    set: () => ({ stdin: true }),
  },
  {
    names: ["--max-age"],
    value: "SECONDS",
    needs: "a number above 0",
    help: ["answer 503 when that line is older (default: it may be)"],
    with: "--stdin",
    set: (value) =>
      /^\d+(\.\d+)?$/.test(value) && Number(value) > 0
        ? { maxAge: Number(value) }
        : undefined,
  },
  {
    names: ["--cors"],
    help: ["let pages of any other site read the answers"],
    set: () => ({ cors: true }),
  },
  {
    names: ["--debug", "--no-debug"],
    help: [
      "show the stack of an error on the console, or do not",
      "(default --debug)",
    ],
    set: (_, name) => ({ debug: name === "--debug" }),
  },
  {
    names: ["-h", "--help"],
    help: ["print this text"],
    set: () => ({}),
    print: () => HELP,
  },
  {
    names: ["--version"],
    help: ["print the version"],
    set: () => ({}),
    print: () => project.version,
  },
];

/** The text of `--help`. */
export const HELP = `Usage: datasensor [flags]

Serves a piece of sensor data as one JSON string at /datasensor.

${FLAGS.map(formatHelp).join("\n")}`;

/** Formats a flag's lines of the help text, in two columns. */
function formatHelp({ names, value, help }: Flag): string {
  const form = names.join(", ") + (value ? ` ${value}` : "");
  return help.map((line, index) => `  ${(index ? "" : form).padEnd(21)}${line}`)
    .join("\n");
}
