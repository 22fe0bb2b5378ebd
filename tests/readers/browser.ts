// Opens pages in Chromium, and reads the board's page.

/**
 * Returns a command that prints the document of a page as it is after some seconds, which
 * pass as fast as the page permits.
 */
export function chromium(url: string, profile: string, seconds = 1): string[] {
  return [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--ignore-certificate-errors",
    `--user-data-dir=${profile}`,
    `--virtual-time-budget=${seconds * 1000}`,
    "--dump-dom",
    url,
  ];
}

/** What the board's page shows. */
export interface Shown {
  title: string;
  heading: string;
  problem: string;
  /** The name and the age of each sensor, with "!" if it is silent, and its values. */
  sensors: string[][];
  /** The heights to which the first graph goes, in lines, which gaps separate. */
  lines: number[][];
}

/** Reads what the document of the board's page shows. */
export function readPage(document: string): Shown {
  const [shown] = document.split("<script") as [string];
  const [head = "", ...sections] = shown.split("<section>");
  const text = (pattern: RegExp) => toText(head.match(pattern)?.[1] ?? "");
  const path = shown.match(/<path d="M([^"]*)"/)?.[1];
  const heights = (line: string) =>
    Array.from(line.matchAll(/,([^h]*)h/g), ([, y]) => 100 - Number(y))
      .filter((height, index, all) => height !== all[index - 1]);
  return {
    title: text(/<title>(.*?)<\/title>/s),
    heading: text(/<h1>(.*?)<\/h1>/),
    problem: text(/<p class="problem">(.*?)<\/p>/s),
    sensors: sections.map((section) => {
      const parts = section.matchAll(/<(?:h2|figcaption).*?>(.*?)<\/[hf]/gs);
      const [first, ...values] = Array.from(parts, ([, part]) => toText(part!));
      return [first + (section.includes("<h2 class") ? "!" : ""), ...values];
    }),
    lines: path?.split("M").map(heights) ?? [],
  };
}

/** Returns the text of a part of a document. */
function toText(html: string): string {
  return html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
}
