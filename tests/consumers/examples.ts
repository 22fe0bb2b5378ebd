// The examples of the operator's guide: its files and its commands.

import { consumersGuide } from "../helpers/guide.ts";
import type { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

/** What replaces the placeholders of an example, by placeholder. */
export type Values = Record<string, string>;

/**
 * Returns an example with its placeholders replaced.
 *
 * @throws {Error} If the example lacks one of them.
 */
export function fill(example: string, values: Values): string {
  let text = example;
  for (const [placeholder, value] of Object.entries(values)) {
    if (!text.includes(placeholder)) {
      throw new Error(`No "${placeholder}" in ${example}`);
    }
    text = text.replaceAll(placeholder, value);
  }
  return text;
}

/** Writes a file of `src/board/examples` to a folder, and returns its path. */
export async function copyExample(
  folder: Folder,
  name: string,
  values: Values,
): Promise<string> {
  const example = await Deno.readTextFile(`src/board/examples/${name}`);
  const path = `${folder.path}/${name}`;
  await Deno.writeTextFile(path, fill(example, values));
  return path;
}

/** Lists the boards, which the examples read, in a folder, with the guide's command. */
export async function listBoards(
  folder: Folder,
  boards: string[],
): Promise<void> {
  const command = consumersGuide.line("echo BOARD");
  const commands = boards.map((BOARD) => fill(command, { BOARD, ">": ">>" }));
  await runCommands(folder, commands.join("\n"));
}

/** Runs commands of the guide in a folder. */
export async function runCommands(
  folder: Folder,
  commands: string,
): Promise<void> {
  const options = { cwd: folder.path };
  const { code, stderr } = await output("sh", ["-ec", commands], options);
  if (code !== 0) throw new Error(stderr);
}
