// The examples of the operator's guide: its files and its commands.

import type { Folder } from "../helpers/files.ts";
import { Guide } from "../helpers/guide.ts";

/** What replaces the placeholders of an example, by placeholder. */
export type Values = Record<string, string>;

/**
 * Returns an example with its placeholders replaced.
 *
 * @throws {Error} If the example lacks one of them.
 */
function fill(example: string, values: Values): string {
  let text = example;
  for (const [placeholder, value] of Object.entries(values)) {
    if (!text.includes(placeholder)) {
      throw new Error(`No "${placeholder}" in ${example}`);
    }
    text = text.replaceAll(placeholder, value);
  }
  return text;
}

/** Repeats what an example says about BOARD for a second board, OTHER. */
function addBoard(example: string): string {
  return example.replace(
    /<(Page|URL) .*<\/\1>\n|"http:\/\/BOARD\S*"(?=\])/s,
    (part) => {
      const separator = part.startsWith("<") ? "" : ", ";
      return part + separator + part.replaceAll("BOARD", "OTHER");
    },
  );
}

/**
 * Writes a file of `.board/consumers` to a folder, and returns its path. If a value
 * for OTHER is given, the file reads that board, too.
 */
export async function copyExample(
  folder: Folder,
  name: string,
  values: Values,
): Promise<string> {
  const example = await Deno.readTextFile(`.board/consumers/${name}`);
  const hasOther = Object.keys(values).some((key) => key.startsWith("OTHER"));
  const path = `${folder.path}/${name}`;
  const text = fill(hasOther ? addBoard(example) : example, values);
  await Deno.writeTextFile(path, text);
  return path;
}

/**
 * Returns the guide's block of commands that contains a text.
 *
 * @throws {Error} If there is not exactly one.
 */
export async function guideCommands(
  text: string,
  values: Values,
): Promise<string> {
  return fill((await Guide.read(".board/README.md")).block(text), values);
}
