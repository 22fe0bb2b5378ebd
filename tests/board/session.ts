// Follows the user's way, which session.md shows as a session.

import { assertEquals } from "@std/assert";
import { consumersGuide, guide, readme } from "../helpers/guide.ts";
import type { Output } from "../helpers/process.ts";
import type { Board } from "./board.ts";
import type { Check } from "./operations.ts";

/** What is typed at a prompt, and what is answered. */
interface Step {
  readonly prompt: "pc" | "board";
  readonly command: string;
  readonly answer: string;
}

/** What differs each time, and what the session writes instead. */
const MASKS: [pattern: RegExp, name: string][] = [
  [/\b\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\b/g, "TIME"],
  // Above the limit, which is 15 s
  [/(?<=The last reading is )(1[5-9]|[2-9]\d|\d{3})(\.\d)?(?= s old)/g, "AGE"],
  [/(?<=All is well: the reading is )\d+(?= s old)/g, "AGE"],
  [/(?<=^content-length: )\d+/gm, "LENGTH"],
  [/(?<=\(Deno )[\d.]+/g, "VERSION"],
  // Deno 2.7 adds it to what it could compress, Deno 2.9 does not
  [/^vary: Accept-Encoding\n/gm, ""],
];

/** What stands for any lines of an answer. */
const ANY_LINES = "...";

/** A prompt with a command, and the lines up to the next prompt. */
const STEP = /^(pc|board)\$ (.*)\n((?:(?!(?:pc|board)\$ ).*\n)*)/gm;

const TEXT = Deno.readTextFileSync(new URL("session.md", import.meta.url));

/** What the session has from the README and the guides. */
const DOCUMENTED = [
  readme.line("scp dist/datasensor_"),
  readme.line("BOARD sudo apt install"),
  readme.block("FLAGS=--stdin").split("\n")[0]!,
  readme.match(/sudo systemctl restart datasensor/)[0],
  consumersGuide.line("curl -fsS"),
  guide.line("sudo datasensor-doctor"),
  guide.match(/-o DPkg::Options::=--force-confold/)[0],
  guide.match(/sudo systemctl revert datasensor datasensor-sensor/)[0],
  guide.line("apt-get purge"),
];

for (const text of DOCUMENTED) {
  if (!TEXT.includes(text)) throw new Error(`session.md lacks "${text}"`);
}

/** The checks that follow the session, one for each of its sections, in order. */
export const SESSION: Check[] = TEXT.split(/^## /m).slice(1).map(parseSection);

/** Returns the check that follows a section of the session. */
export function section(title: string): Check {
  const name = nameOf(title);
  const check = SESSION.find((check) => check.name === name);
  if (!check) throw new Error(`session.md has no section "${title}"`);
  return check;
}

function nameOf(title: string): string {
  return `session.md: ${title}`;
}

function parseSection(text: string): Check {
  const [title] = text.split("\n") as [string];
  const blocks = text.matchAll(/^```console\n(.*?)^```$/gms);
  const steps = [...blocks].flatMap(([, block]) => parseSteps(block!));
  if (steps.length === 0) {
    throw new Error(`session.md: "${title}" has no steps`);
  }
  return {
    name: nameOf(title),
    isOnTheWay: true,
    async run(board) {
      for (const step of steps) await follow(board, step);
    },
  };
}

function parseSteps(block: string): Step[] {
  if (!block.match(/^(pc|board)\$ /)) {
    throw new Error(`session.md: No prompt is before "${block}"`);
  }
  return Array.from(block.matchAll(STEP), ([, prompt, command, answer]) => ({
    prompt: prompt as Step["prompt"],
    command: command!,
    answer: answer!.trimEnd(),
  }));
}

/** Follows a step. Throws with the lines that differ from those that are written. */
async function follow(board: Board, step: Step): Promise<void> {
  const { prompt, command, answer } = adapt(board, step);
  let shown = "";
  const run = async () => {
    const output = prompt === "pc"
      ? await board.attemptOnOperator(command)
      : await board.attempt(command);
    return shown = show(output, answer);
  };
  let cause: unknown;
  if (command.startsWith("curl ")) {
    await board.waitFor("this answer", run, (shown) => shown === answer)
      .catch((error) => cause = error);
  } else {
    await run();
  }
  const typed = `${prompt}$ ${step.command}\n`;
  try {
    assertEquals(typed + shown, typed + answer);
  } catch (difference) {
    // The lines come first: why a wait has failed is long
    throw Object.assign(difference as Error, { cause });
  }
}

/** Replaces what stands for the board and for the version of a package. */
function adapt(board: Board, { prompt, command, answer }: Step): Step {
  const [, newer] = board.packages.newer.split("_") as [string, string];
  const site = `http://127.0.0.1:${board.port(5000)}`;
  return {
    prompt,
    command: command.replaceAll("NEWER", newer)
      .replaceAll("http://BOARD:5000", site),
    answer: board.adapt(answer.replaceAll("NEWER", newer)),
  };
}

/**
 * Returns what a command has printed, as the session writes it. If it failed, that is
 * all of it.
 */
function show({ code, stdout, stderr }: Output, answer: string): string {
  let shown = stdout.replaceAll("\r\n", "\n").trimEnd();
  if (code !== 0) return `${shown}\n${stderr}It failed with ${code}`;
  for (const [pattern, name] of MASKS) shown = shown.replace(pattern, name);
  return replaceAnyLines(shown.split("\n"), answer.split("\n")).join("\n");
}

/** Replaces the lines that the session writes as `...`, if it does. */
function replaceAnyLines(shown: string[], written: string[]): string[] {
  const begin = written.indexOf(ANY_LINES);
  if (begin < 0) return shown;
  const linesBehind = written.length - begin - 1;
  const end = Math.max(begin, shown.length - linesBehind);
  return [...shown.slice(0, begin), ANY_LINES, ...shown.slice(end)];
}
