// The guide and the README, for tests that follow or check them. In tests/board, look
// texts up where a module is loaded: tests/packages/guide_test.ts loads them all, and fails
// at once when one looks for what is no longer there.

class MarkdownFile {
  readonly text: string;
  readonly #blocks: string[]; // of code

  constructor(readonly file: string) {
    this.text = Deno.readTextFileSync(file);
    const blocks = this.text.matchAll(/^```\w+\n(.*?)^```$/gms);
    this.#blocks = Array.from(blocks, ([, block]) => block!);
  }

  /** Returns the only code block that contains a text. */
  block(text: string): string {
    return this.#only(this.#blocks, text);
  }

  /** Returns the only line of the code blocks that contains a text. */
  line(text: string): string {
    return this.#only(this.#blocks.flatMap((block) => block.split("\n")), text);
  }

  #only(parts: string[], text: string): string {
    const found = parts.filter((part) => part.includes(text));
    if (found.length === 1) return found[0]!;
    throw new Error(`${this.file} has "${text}" ${found.length} times`);
  }

  /** Returns what a pattern first matches in the text. */
  match(pattern: RegExp): RegExpMatchArray {
    const match = this.text.match(pattern);
    if (match) return match;
    throw new Error(`${this.file} does not match ${pattern}`);
  }
}

export const guide = new MarkdownFile(".board/README.md");
export const readme = new MarkdownFile("README.md");
