// The examples of the readers' page, for tests.

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
