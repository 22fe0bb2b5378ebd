// Opens pages in Chromium, and reads the board's page.

/**
 * Returns a command that prints the document of a page as it is after some seconds, which
 * pass as fast as the page permits.
 */
export function chromium(url: string, profile: string, seconds = 1): string[] {
  return [
    "env",
    "TZ=Europe/Berlin",
    "LANGUAGE=en_US",
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
  /** The line at the top, with "!" if it is red. */
  status: string;
  note: string;
  isHidden: boolean;
  /** The name and the age of each sensor and its values, with "!" if they are red. */
  sensors: string[];
  /** Of the first graph, the path of its line, of its band, the mark if there is one,
   * the times, and its summary. */
  graph: string;
}

/** Reads what the document of the board's page shows. */
export function readPage(document: string): Shown {
  const [shown] = document.split("<script") as [string];
  const text = (pattern: RegExp) => toText(shown.match(pattern)?.[1] ?? "");
  const [, ...sections] = shown.split("<section");
  const [, band = "", line = ""] = shown.match(/(?<= d=")[^"]*/g) ?? [];
  const times = text(/<p>(<time.*?)<\/p>/);
  const summary = text(/<\/div><p(?: class="spoken")?>(.*?)<\/p>/);
  const place = text(/role="slider"[^>]* style="([^"]+)"/);
  const mark = place && `${place} ${text(/<mark>(.*?)<\/mark>/)} | `;
  const [statusLine = ""] = shown.match(/<p[^>]* role="status".*?<\/p>/s) ?? [];
  return {
    title: text(/<title>(.*?)<\/title>/s),
    heading: text(/<h1>(.*?)<\/h1>/),
    status: toText(statusLine) + (statusLine.includes("problem") ? "!" : ""),
    note: text(/<\/main>\s*<p>(.*?)<\/p>/),
    isHidden: /<main hidden/.test(shown),
    sensors: sections.map((section) => {
      const parts = section.matchAll(/<(?:h2|figcaption)(.*?)<\/[hf]/gs);
      return Array.from(
        parts,
        ([, part]) =>
          toText(`<${part}`) + (part!.includes('"problem"') ? "!" : ""),
      ).join();
    }),
    // Without what has no area
    graph: [
      line,
      band.replace(/M(\d+),(\d+)H\1V\2H\1Z/g, ""),
      mark + times,
      summary,
    ]
      .join(" | "),
  };
}

/** Returns the text of a part of a document. */
function toText(html: string): string {
  return html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
}
