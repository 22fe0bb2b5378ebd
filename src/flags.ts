// The one table of flags, from which the parsing, the usage sentences and the
// help text come.

import project from "../deno.json" with { type: "json" };
import { type Config, DEFAULTS } from "./config.ts";

/** Settings, or a text to print instead of serving. */
export type Change = Partial<Config> & { print?: string };

/** A flag of the command line. */
export interface Flag {
  /** Its names, and what stands for its value, as the help text has them. */
  form: string;
  /** What its value must be, if it takes one. */
  needs?: string;
  help: string;
  /** The flag without which it means nothing. */
  with?: string;
  /** The flag that it contradicts. */
  without?: string;
  /** Returns what it changes, or undefined for a wrong value. */
  set(value: string, name: string): Change | undefined;
}

/** Every flag, in the order of the help text. */
export const FLAGS: Flag[] = [
  {
    form: "--host ADDRESS",
    needs: "an address",
    help: `listen on 0.0.0.0, ::, 127.0.0.1, ::1 or localhost
(default ${DEFAULTS.hostname}: every IPv4 address of this machine)`,
    set: (hostname) => hostname ? { hostname } : undefined,
  },
  {
    form: "--port PORT",
    needs: "a whole number from 0 to 65535",
    help: `listen on this port; 0 takes a free one (default ${DEFAULTS.port})`,
    set: (value) => {
      const port = /^\d+$/.test(value) ? Number(value) : Infinity;
      return port <= 65535 ? { port } : undefined;
    },
  },
  {
    form: "--message TEXT",
    needs: "a text",
    help: `answer with this text (default "${DEFAULTS.message}")`,
    set: (message) => message ? { message } : undefined,
  },
  {
    form: "--stdin",
    help: "answer with the last line of standard input",
    without: "--message",
    set: () => ({ stdin: true }),
  },
  {
    form: "--max-age SECONDS",
    needs: "a number above 0, as 15 or 0.5",
    help: "answer 503 when that line is older (default: it may be)",
    with: "--stdin",
    set: (value) => {
      const maxAge = /^\d+(\.\d+)?$/.test(value) ? Number(value) : 0;
      return maxAge > 0 ? { maxAge } : undefined;
    },
  },
  {
    form: "--cors",
    help: "let pages of any other site read the answers",
    set: () => ({ cors: true }),
  },
  {
    form: "--debug, --no-debug",
    help: `show the stack of an error on the console, or do not
(default --debug)`,
    set: (_, name) => ({ debug: name === "--debug" }),
  },
  {
    form: "-h, --help",
    help: "print this text",
    set: () => ({ print: HELP }),
  },
  {
    form: "--version",
    help: "print the version",
    set: () => ({ print: project.version }),
  },
];

/** The text of `--help`, in two columns. */
export const HELP = `Usage: datasensor [flags]

Serves a piece of sensor data as one JSON string at /datasensor.

${
  FLAGS.map(({ form, help }) =>
    `  ${form.padEnd(21)}${help.replace("\n", `\n${" ".repeat(23)}`)}`
  ).join("\n")
}`;
