// The documents, for tests that follow or check them.

/** Returns the first code block of a document that contains a text. */
export function block(document: string, text: string): string {
  const blocks = Deno.readTextFileSync(document).matchAll(
    /^```\w+\n(.*?)^```$/gms,
  );
  for (const [, code] of blocks) {
    if (code!.includes(text)) return code!;
  }
  throw new Error(`${document} has no "${text}"`);
}

/** Returns the links of a Markdown file that lead to no file, or to no section of one. */
export async function listBrokenLinks(document: string): Promise<string[]> {
  const folder = document.replace(/[^/]*$/, "");
  const text = await Deno.readTextFile(document);
  const links = text.matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g);
  const broken: string[] = [];
  for (const [link, file, anchor] of links) {
    const target = await Deno.readFile(file ? folder + file : document)
      .catch(() => undefined);
    const anchors = anchorsOf(new TextDecoder().decode(target));
    const leads = target && (!anchor || anchors.includes(anchor));
    if (!leads) broken.push(`${document}: ${link}`);
  }
  return broken;
}

/** Returns the anchors of the headings of a Markdown text. */
function anchorsOf(text: string): string[] {
  return Array.from(
    text.matchAll(/^#+ (.*)$/gm),
    ([, title]) =>
      title!.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-"),
  );
}
