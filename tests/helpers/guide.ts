// Finds commands and settings in the guide and the README, for tests that follow
// them.

/** The fenced code blocks of a Markdown file. */
export class Guide {
  /** Reads a Markdown file. */
  static async read(file: string): Promise<Guide> {
    const text = await Deno.readTextFile(file);
    const blocks = text.matchAll(/^```\w+\n(.*?)^```$/gms);
    return new Guide(file, Array.from(blocks, ([, block]) => block!));
  }

  private constructor(
    private readonly file: string,
    private readonly blocks: string[],
  ) {}

  /** Returns the only code block that contains a text. */
  block(text: string): string {
    return this.#only(this.blocks, text);
  }

  /** Returns the only line of the code blocks that contains a text. */
  line(text: string): string {
    return this.#only(this.blocks.flatMap((block) => block.split("\n")), text);
  }

  #only(parts: string[], text: string): string {
    const found = parts.filter((part) => part.includes(text));
    if (found.length === 1) return found[0]!;
    throw new Error(`${this.file} has "${text}" ${found.length} times`);
  }
}
