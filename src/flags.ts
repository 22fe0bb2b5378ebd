// The one table of flags, from which the parsing, the usage sentences and the
// help text come.

import project from "../deno.json" with { type: "json" };
import { type Config, DEFAULTS } from "./config.ts";

/** Settings, or a text to print instead of serving. */
export type Change = Partial<Config> & { print?: string };

/** A flag of the command line. */
export interface Flag {
  names: string[];
  /** What stands for its value in the help text, if it takes one. */
  value?: string;
  /** What the value must be. */
  needs?: string;
  help: string;
  /** Returns what it changes, or undefined for a wrong value. */
  set(value: string, name: string): Change | undefined;
}

/** Every flag, in the order of the help text. */
export const FLAGS: Flag[] = [
  {
    names: ["--host"],
    value: "ADDRESS",
    needs: "an address",
    help: `listen on 0.0.0.0, ::, 127.0.0.1, ::1 or localhost
(default ${DEFAULTS.hostname}: every IPv4 address of this machine)`,
    set: (hostname) => hostname ? { hostname } : undefined,
  },
  {
    names: ["--port"],
    value: "PORT",
    needs: "a whole number from 0 to 65535",
    help: `listen on this port; 0 takes a free one (default ${DEFAULTS.port})`,
    set: (value) => {
      const port = /^\d+$/.test(value) ? Number(value) : Infinity;
      return port <= 65535 ? { port } : undefined;
    },
  },
  {
    names: ["--message"],
    value: "TEXT",
    needs: "a text",
    help: `answer with this text (default "${DEFAULTS.message}")`,
    set: (message) => message ? { message } : undefined,
  },
  {
    names: ["--stdin"],
    help: "answer with the last line of standard input",
    set: () => ({ stdin: true }),
  },
  {
    names: ["--max-age"],
    value: "SECONDS",
    needs: "a number above 0, as 15 or 0.5",
    help: "answer 503 when that line is older (default: it may be)",
    set: (value) => {
      const maxAge = /^\d+(\.\d+)?$/.test(value) ? Number(value) : 0;
      return maxAge > 0 ? { maxAge } : undefined;
    },
  },
  {
    names: ["--cors"],
    help: "let pages of any other site read the answers",
    set: () => ({ cors: true }),
  },
  {
    names: ["--debug", "--no-debug"],
    help: `show the stack of an error on the console, or do not
(default --debug)`,
    set: (_, name) => ({ debug: name === "--debug" }),
  },
  {
    names: ["-h", "--help"],
    help: "print this text",
    set: () => ({ print: HELP }),
  },
  {
    names: ["--version"],
    help: "print the version",
    set: () => ({ print: project.version }),
  },
];

/** The text of `--help`, in two columns. */
export const HELP = `Usage: datasensor [flags]

Serves a piece of sensor data as one JSON string at /datasensor.

${
  FLAGS.map(({ names, value, help }) => {
    const form = names.join(", ") + (value ? ` ${value}` : "");
    return `  ${form.padEnd(21)}${help.replace("\n", `\n${" ".repeat(23)}`)}`;
  }).join("\n")
}`;
