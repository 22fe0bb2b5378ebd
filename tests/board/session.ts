// Sessions: pages of what is typed at the prompt of a PC or a board, and what is
// answered. CONTRIBUTING.md says how to write one.

import type { Container, Output, Prompt } from "./container.ts";

/** A command that is typed, and the answer that is written below it. */
export interface Step {
  readonly prompt: Prompt;
  readonly command: string;
  readonly answer: string[];
}

/** A section of a page. */
export interface Check {
  readonly name: string;
  readonly steps: Step[];
}

/** Commands that only look, which are repeated until the written answer comes. */
const LOOKS = RegExp(
  `^(?:sudo )?(?:${
    [
      "cat",
      "curl",
      "datasensor-doctor",
      "dpkg-query",
      "find",
      "journalctl",
      "ls",
      "pgrep",
      "ps",
      "stat",
      "systemctl (?:cat|is-active|is-enabled|is-system-running|show|status)",
    ].join("|")
  })\\b`,
);

/** What ends a command that looks, but is to be run once. */
const ONCE = "# once";

/** How long to look for the written answer, in ms: systemd waits for up to 25 s. */
const LOOK_TIMEOUT_MS = 60_000;

/** The pause between two looks, in ms. */
const LOOK_PAUSE_MS = 200;

/** What stands for any text, or for any lines if it is alone on one. */
const ANYTHING = "...";

/** What stands for text that differs each time. */
const MASKS: Record<string, string> = {
  "...": "[^\n]*",
  NUMBER: String.raw`-?\d+(?:\.\d+)?`,
  TIME: String
    .raw`(?:\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\d\d/\w{3}/\d{4} [\d:]{8}|\d{4}-\d\d-\d\dT[\d:]{8}Z)`,
  VERSION: String.raw`\d+\.\d+\.\d+(?:\+[\w.]+)?`,
};

/** Returns the checks of a page, one for each section that has steps. */
export function parseChecks(page: string): Check[] {
  return page.split(/^## /m).slice(1).map((section) => {
    const [name] = section.split("\n") as [string];
    const blocks = section.matchAll(/^```console\n(.*?)^```$/gms);
    const steps = blocks.flatMap(([, block]) => parseSteps(block!)).toArray();
    if (steps.length === 0) throw new Error(`"${name}" has no steps`);
    return { name, steps };
  });
}

function parseSteps(block: string): Step[] {
  const steps: Step[] = [];
  for (const line of block.trimEnd().split("\n")) {
    const [, prompt, command] = line.match(/^(pc|board)\$ (.*)$/) ?? [];
    const step = steps.at(-1);
    if (command !== undefined) {
      steps.push({ prompt: prompt as Prompt, command, answer: [] });
    } else if (!step) {
      throw new Error(`No prompt is before "${line}"`);
    } else if (line.startsWith(">") && step.answer.length === 0) {
      const command = `${step.command}\n${line.slice(2)}`;
      steps[steps.length - 1] = { ...step, command };
    } else {
      step.answer.push(line);
    }
  }
  return steps;
}

/** Runs a step. Throws an error with the lines that differ from the written ones. */
export async function follow(board: Container, step: Step): Promise<void> {
  const { prompt, command, answer } = step;
  const isRepeated = LOOKS.test(command) && !command.endsWith(ONCE);
  const end = performance.now() + (isRepeated ? LOOK_TIMEOUT_MS : 0);
  while (true) {
    const shown = show(await board.type(prompt, command));
    const difference = compare(answer, shown);
    if (difference === undefined) return;
    if (performance.now() > end) {
      const typed = command.replaceAll("\n", "\n> ");
      throw new Error(`${prompt}$ ${typed}\n${difference}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
  }
}

/** Returns the lines that a command has printed, as a page writes them. */
function show({ code, text }: Output): string[] {
  const lines = text.trimEnd().split("\n").map((line) => line.trimEnd());
  if (text === "") lines.pop();
  if (code !== 0) lines.push(`[${code}]`);
  return sortFields(lines);
}

/**
 * Sorts the header fields of a response; `...` then stands for the other ones. Without
 * those that Deno 2.7 adds to what it could compress, and Deno 2.9 does not.
 */
function sortFields(lines: string[]): string[] {
  if (!lines[0]?.startsWith("HTTP/")) return lines;
  const end = lines.includes("") ? lines.indexOf("") : lines.length;
  const written = lines.slice(1, end);
  const fields = written
    .map((field) => field.replace(/^(vary: )Accept-Encoding(, )?/, "$1"))
    .filter((field) => field !== "vary: " && field !== ANYTHING)
    .sort();
  const sorted = written.includes(ANYTHING)
    ? [...fields.flatMap((field) => [ANYTHING, field]), ANYTHING]
    : fields;
  return [lines[0], ...sorted, ...lines.slice(end)];
}

/** Returns the lines that differ from the written ones, if any do. */
export function compare(
  answer: string[],
  shown: string[],
): string | undefined {
  const written = sortFields(answer);
  const patterns = written.map((line) =>
    line === ANYTHING ? "(?:[^\n]*\n)*?" : `${toPattern(line)}\n`
  );
  const text = shown.map((line) => `${line}\n`).join("");
  if (RegExp(`^${patterns.join("")}$`).test(text)) return;
  // Without the lines at the start and at the end that are as they are written
  const isAlike = (one?: string, other?: string) =>
    one !== undefined && other !== undefined && one !== ANYTHING &&
    RegExp(`^${toPattern(one)}$`).test(other);
  let start = 0;
  while (isAlike(written[start], shown[start])) start++;
  let end = 0;
  while (
    end < Math.min(written.length, shown.length) - start &&
    isAlike(written.at(-1 - end), shown.at(-1 - end))
  ) end++;
  return [
    ...shown.slice(0, start).map((line) => `  ${line}`),
    ...written.slice(start, written.length - end).map((line) => `- ${line}`),
    ...shown.slice(start, shown.length - end).map((line) => `+ ${line}`),
    ...shown.slice(shown.length - end).map((line) => `  ${line}`),
  ].join("\n");
}

/** Returns the pattern of what a written line stands for. */
function toPattern(line: string): string {
  const names = Object.keys(MASKS).map(RegExp.escape).join("|");
  return line.split(RegExp(`(${names})`)).map((part) =>
    MASKS[part] ?? RegExp.escape(part)
  ).join("");
}
