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

/** Writes a file of `.board/consumers` to a folder, and returns its path. */
export async function copyExample(
  folder: Folder,
  name: string,
  values: Values,
): Promise<string> {
  const example = await Deno.readTextFile(`.board/consumers/${name}`);
  const path = `${folder.path}/${name}`;
  await Deno.writeTextFile(path, fill(example, values));
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
