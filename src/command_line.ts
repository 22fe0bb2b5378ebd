// The command line: arguments in, a command out.

import { type Config, DEFAULTS } from "./config.ts";
import { type Change, type Flag, FLAGS } from "./flags.ts";

/** What a command line asks for. */
export type Command =
  | { kind: "serve"; config: Config }
  | { kind: "print"; text: string }
  /** A mistake of the user's: the text says which, and how to get help. */
  | { kind: "usage"; text: string };

/**
 * Parses the command line. Of a flag that is given twice, the last one counts.
 *
 * Not with parseArgs of node:util, which loads Node.js's layer: see delay().
 */
export function parseCommand(args: readonly string[]): Command {
  const changes: Change = {};
  const given = new Map<string, Flag>();
  const rest = args.values();
  for (const arg of rest) {
    if (!arg.startsWith("-")) {
      return usage(`Unexpected argument ${JSON.stringify(arg)}`);
    }
    const [, name = arg, inline] = arg.match(/^(.+?)=(.*)$/s) ?? [];
    const flag = FLAGS.find(({ form }) => form.split(/,? /).includes(name));
    if (!flag) return usage(`Unknown flag ${JSON.stringify(name)}`);
    if (!flag.needs && inline !== undefined) {
      return usage(`${name} takes no value, not ${JSON.stringify(inline)}`);
    }
    const value = inline ?? (flag.needs ? rest.next().value : undefined) ?? "";
    const change = flag.set(value, name);
    if (!change) {
      return usage(`${name} needs ${flag.needs}, not ${JSON.stringify(value)}`);
    }
    Object.assign(changes, change);
    given.set(name, flag);
  }
  const { print, ...config } = { ...DEFAULTS, ...changes };
  if (print !== undefined) return { kind: "print", text: print };
  for (const [name, flag] of given) {
    if (flag.with && !given.has(flag.with)) {
      return usage(`${name} needs ${flag.with}`);
    }
    if (flag.without && given.has(flag.without)) {
      return usage(`${name} cannot be used with ${flag.without}`);
    }
  }
  return { kind: "serve", config };
}

function usage(message: string): Command {
  const text = `${message}\nRun with --help to see the flags`;
  return { kind: "usage", text };
}
