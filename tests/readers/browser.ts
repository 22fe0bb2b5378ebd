// Opens pages in Chromium, and reads the page with graphs.

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

/** What the page with graphs shows. */
export interface Graphs {
  title: string;
  hasForm: boolean;
  status: string;
  problem: string;
  values: [name: string, value: string][];
  /** The heights to which the first graph goes, in lines, which gaps separate. */
  lines: number[][];
}

/** Reads what the document of the page with graphs shows. */
export function readGraphs(document: string): Graphs {
  const [shown] = document.split("<script") as [string];
  const text = (pattern: RegExp) => shown.match(pattern)?.[1] ?? "";
  const path = text(/<path d="M([^"]*)"/);
  const lines = path ? path.split("M") : [];
  const heights = (line: string) =>
    Array.from(line.matchAll(/,([^h]*)h/g), ([, y]) => 100 - Number(y))
      .filter((height, index, all) => height !== all[index - 1]);
  const values = shown.matchAll(/<span>([^<]*)<\/span><b>([^<]*)<\/b>/g);
  return {
    title: text(/<title>(.*?)<\/title>/),
    hasForm: shown.includes("<form>"),
    status: text(/<p id="status">(.*?)<\/p>/),
    problem: text(/<p id="problem"[^>]*>(.*?)<\/p>/),
    values: Array.from(values, ([, name, value]) => [name!, value!]),
    lines: lines.map(heights),
  };
}
