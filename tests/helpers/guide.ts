// The pages, for tests that follow or check them.

class MarkdownFile {
  readonly text: string;
  /** Its code blocks. */
  readonly blocks: readonly string[];

  constructor(readonly file: string) {
    this.text = Deno.readTextFileSync(file);
    const blocks = this.text.matchAll(/^```\w+\n(.*?)^```$/gms);
    this.blocks = Array.from(blocks, ([, block]) => block!);
  }

  /** Returns the first code block that contains a text. */
  block(text: string): string {
    return this.#first(this.blocks, text);
  }

  /** Returns the first line of the code blocks that contains a text. */
  line(text: string): string {
    return this.#first(this.blocks.flatMap((it) => it.split("\n")), text);
  }

  #first(parts: readonly string[], text: string): string {
    const found = parts.find((part) => part.includes(text));
    if (found !== undefined) return found;
    throw new Error(`${this.file} has no "${text}"`);
  }

  /** Returns what a pattern first matches in the text. */
  match(pattern: RegExp): RegExpMatchArray {
    const match = this.text.match(pattern);
    if (match) return match;
    throw new Error(`${this.file} does not match ${pattern}`);
  }
}

export const readersPage = new MarkdownFile("src/readers/README.md");
export const readme = new MarkdownFile("README.md");

/** Returns the links of a Markdown file that lead to no file, or to no section of one. */
export async function listBrokenLinks(document: string): Promise<string[]> {
  const folder = document.replace(/[^/]*$/, "");
  const text = await Deno.readTextFile(document);
  const links = text.matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g);
  const broken: string[] = [];
  for (const [link, file, anchor] of links) {
    const path = file ? folder + file : document;
    const exists = await Deno.stat(path).then(() => true, () => false);
    const leads = exists && (!anchor || await hasSection(path, anchor));
    if (!leads) broken.push(`${document}: ${link}`);
  }
  return broken;
}

/** Whether a Markdown file has a heading with an anchor. */
async function hasSection(file: string, anchor: string): Promise<boolean> {
  const headings = (await Deno.readTextFile(file)).matchAll(/^#+ (.*)$/gm);
  return headings.some(([, title]) =>
    title!.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-") === anchor
  );
}
