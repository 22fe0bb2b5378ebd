// The command line: arguments in, a command out.

import { type Config, DEFAULTS } from "./config.ts";
import { type Flag, FLAGS } from "./flags.ts";

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
 *
 * @param args The arguments, without the program's name.
 */
export function parseCommand(args: readonly string[]): Command {
  const config = { ...DEFAULTS };
  const given = new Set<string>();
  let print: Flag["print"];
  const rest = args.values();
  for (const arg of rest) {
    // Behind "--" there are no flags, and nothing else is taken
    const operand = arg === "--" ? rest.next().value : arg;
    if (operand === undefined) break;
    if (arg === "--" || !arg.startsWith("-")) {
      return usage(`Unexpected argument ${JSON.stringify(operand)}`);
    }
    const [, name = arg, inline] = arg.match(/^(.+?)=(.*)$/s) ?? [];
    const flag = FLAGS.find(({ names }) => names.includes(name));
    if (!flag) return usage(`Unknown flag ${JSON.stringify(name)}`);
    const value = inline ?? (flag.value ? rest.next().value : undefined) ?? "";
    const isAllowed = flag.value || inline === undefined;
    const change = flag.set?.(value, name) ?? (flag.print && {});
    if (!isAllowed || !change) {
      const rule = flag.value ? `needs ${flag.needs}` : "takes no value";
      return usage(`${name} ${rule}, not ${JSON.stringify(value)}`);
    }
    Object.assign(config, change);
    print ??= flag.print;
    given.add(name);
  }
  if (print) return { kind: "print", text: print() };
  return checkTogether(given) ?? { kind: "serve", config };
}

/** Refuses flags that need or contradict each other. */
function checkTogether(given: Set<string>): Command | undefined {
  for (const { names: [name = ""], ...flag } of FLAGS) {
    if (!given.has(name)) continue;
    if (flag.with && !given.has(flag.with)) {
      return usage(`${name} needs ${flag.with}`);
    }
    if (flag.without && given.has(flag.without)) {
      return usage(`${name} cannot be used with ${flag.without}`);
    }
  }
}

function usage(message: string): Command {
  const text = `${message}\nRun with --help to see the flags`;
  return { kind: "usage", text };
}
