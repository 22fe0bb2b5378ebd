// Sessions: pages of what is typed at the prompt of a PC or a board, and what is
// answered. CONTRIBUTING.md says how to write one.

import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";
import { Board, missingBoard, type Prompt, RELEASES } from "./board.ts";

/** A command that is typed, and the answer that is written below it. */
interface Step {
  readonly prompt: Prompt;
  readonly command: string;
  readonly answer: string;
}

/** Commands that only look, which are repeated until the written answer comes. */
const LOOKS =
  /^(sudo )?(cat|curl|dpkg-query|journalctl|ls|pgrep|stat|systemctl (is-\S+|show|status)) /;

/** What ends a command that looks, but is to be run once. */
const ONCE = /# once$/;

/** How long to look for the written answer, in ms: a sensor that fails waits for 15 s. */
const LOOK_TIMEOUT_MS = 120_000;

/** Shows why a step has failed, unless that fails too. */
const SHOW_JOURNAL =
  `journalctl -u 'datasensor*' -q --no-hostname | grep -v ' HTTP/1.1" ' | tail -n 20`;

/** How a page begins, unless its subject is what comes before. */
const INSTALL: readonly Step[] = parseSteps(`
pc$ scp dist/datasensor_arm64.deb pi@BOARD:
board$ sudo apt install -y ./datasensor_arm64.deb
...
`);

/**
 * Registers a page as a test for each release of Debian, whose steps are its sections.
 *
 * @param subject The name of the page in this folder.
 * @param first What is typed before its first section: by default, the package is installed.
 */
export function follow(subject: string, first = INSTALL): void {
  const page = Deno.readTextFileSync(`tests/board/${subject}.md`);
  for (const release of RELEASES) {
    const name = `${subject} on ${release}`;
    Deno.test(skipIf(missingBoard(), name), async (test) => {
      await using board = await Board.boot(release);
      for (const step of first) await take(board, step);
      for (const { name, steps } of parseSections(page)) {
        const isRight = await test.step(name, async () => {
          for (const step of steps) await take(board, step);
        });
        if (!isRight) break; // what follows depends on it
      }
    });
  }
}

/** Types a command, and compares what it prints with what is written. */
async function take(board: Board, step: Step): Promise<void> {
  const { prompt, command, answer } = step;
  const isOnce = ONCE.test(command) || !LOOKS.test(command);
  const what = `${prompt}$ ${command}\n${answer}`;
  const pattern = toPattern(answer);
  const type = async () => await board.type(prompt, command);
  try {
    if (isOnce) {
      const shown = await type();
      if (!pattern.test(shown)) throw new Error(`${what}\nInstead:\n${shown}`);
    } else {
      const pace = { limit: LOOK_TIMEOUT_MS, pause: 500 };
      await waitFor(what, type, (shown) => pattern.test(shown), pace);
    }
  } catch (error) {
    const { message } = error as Error;
    const journal = await board.type("board", SHOW_JOURNAL);
    throw new Error(`${message}\n\nThe board's journal:\n${journal}`);
  }
}

/** Returns the sections of a page. */
function parseSections(page: string): { name: string; steps: Step[] }[] {
  return page.split(/^## /m).slice(1).map((section) => {
    const [name] = section.split("\n") as [string];
    const blocks = section.matchAll(/^```console\n(.*?)^```$/gms);
    return {
      name,
      steps: blocks.flatMap(([, it]) => parseSteps(it!)).toArray(),
    };
  });
}

/** Each command begins with a prompt; its further lines begin with `> `. */
function parseSteps(block: string): Step[] {
  const steps = block.matchAll(
    /^(pc|board)\$ (.*\n(?:> .*\n)*)((?:(?!(?:pc|board)\$ ).*\n)*)/gm,
  );
  return Array.from(steps, ([, prompt, command, answer]) => ({
    prompt: prompt as Prompt,
    command: command!.trimEnd().replaceAll("\n> ", "\n"),
    answer: answer!,
  }));
}

/** Returns the pattern of an answer, in which `...` stands for any text, or any lines. */
function toPattern(answer: string): RegExp {
  const lines = answer.match(/.*\n/g) ?? [];
  const patterns = lines.map((line) =>
    line === "...\n"
      ? "(?:[^\n]*\n)*?"
      : line.split("...").map(RegExp.escape).join("[^\n]*")
  );
  return RegExp(`^${patterns.join("")}$`);
}
