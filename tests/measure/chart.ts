// Draws the result of the bench as one SVG, for light and dark pages.

/** A group of horizontal bars, one for each server. */
export interface Bars {
  title: string;
  bars: { name: string; value: number; text: string }[];
}

/** Lines over numbers of connections, one for each server. */
export interface Lines {
  title: string;
  connections: number[];
  lines: { name: string; values: number[] }[];
}

const WIDTH = 840;
const PANEL = { width: 400, gap: 40 };
const ROW_HEIGHT = 24;
const PLOT = { left: 48, width: 300, height: 170 };

const STYLE = `
  svg { --page: #ffffff; --text: #1f2328; --muted: #59636e; --grid: #d1d9e0;
    --ours: #0969da; --bare: #8250df; --nginx: #1a7f37; --other: #9aa4ae; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --text: #f0f6fc; --muted: #9198a1; --grid: #3d444d;
      --ours: #4493f8; --bare: #ab7df8; --nginx: #3fb950; --other: #656c76; }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text); }
  .title { font-weight: 600; font-size: 14px; }
  .note { fill: var(--muted); font-size: 12px; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .page { fill: var(--page); }
  .grid { stroke: var(--grid); }
  .line { fill: none; stroke-width: 2.5; }
`;

/** Returns the color of a server, the same in every panel. */
function colorOf(name: string): string {
  if (name.startsWith("this service")) return "var(--ours)";
  if (name.startsWith("bare")) return "var(--bare)";
  if (name.startsWith("nginx")) return "var(--nginx)";
  return "var(--other)";
}

function text(x: number, y: number, content: string, style = ""): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}" class="${style}">${escaped}</text>`;
}

/** Draws bars, with the names of the servers to their left. */
function drawBars({ title, bars }: Bars, hasNames: boolean): string {
  const left = hasNames ? 190 : 0;
  const width = PANEL.width - left - 60;
  const longest = Math.max(...bars.map(({ value }) => value));
  return text(left, 14, title, "title") + bars.map((bar, row) => {
    const y = 26 + row * ROW_HEIGHT;
    const length = Math.max(1, width * bar.value / longest).toFixed(1);
    const style = `style="fill:${colorOf(bar.name)}"`;
    return (hasNames ? text(left - 8, y + 13, bar.name, "end") : "") +
      `<rect x="${left}" y="${y}" width="${length}" height="16" rx="2" ${style}/>` +
      text(left + Number(length) + 6, y + 13, bar.text);
  }).join("\n");
}

/** Returns a round number that is not below a value. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factors = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
  return power * factors.find((factor) => factor * power >= value)!;
}

/** Draws lines, with the names of the servers below. */
function drawLines({ title, connections, lines }: Lines): string {
  const { left, width, height } = PLOT;
  const top = roundUp(Math.max(...lines.flatMap(({ values }) => values)));
  const x = (index: number) => left + width * index / (connections.length - 1);
  const y = (value: number) => 30 + height * (1 - value / top);
  const grid = [0, 0.5, 1].map((share) =>
    `<path class="grid" d="M${left} ${y(share * top)}h${width}"/>` +
    text(left - 8, y(share * top) + 4, String(share * top), "note end")
  );
  const ticks = connections.map((count, index) =>
    text(x(index), 30 + height + 18, count.toLocaleString("en"), "note middle")
  );
  const below = text(
    left + width / 2,
    66 + height,
    "connections",
    "note middle",
  );
  let legend = left;
  const drawn = lines.map(({ name, values }) => {
    const style = `style="stroke:${colorOf(name)}"`;
    const points = values.map((value, index) =>
      `${x(index).toFixed(1)},${y(value).toFixed(1)}`
    );
    const start = legend;
    legend += 50 + 7 * name.length;
    return `<polyline class="line" points="${points.join(" ")}" ${style}/>` +
      `<path class="line" d="M${start} ${88 + height}h16" ${style}/>` +
      text(start + 22, 92 + height, name);
  });
  return [text(0, 14, title, "title"), ...grid, ...ticks, below, ...drawn]
    .join("\n");
}

/** Draws two groups of bars beside each other, and two of lines below them. */
export function drawChart(
  bars: [Bars, Bars],
  lines: [Lines, Lines],
  note: string,
): string {
  const barsHeight = 40 + bars[0].bars.length * ROW_HEIGHT;
  const second = PANEL.width + PANEL.gap;
  const height = barsHeight + PLOT.height + 150;
  const place = (x: number, y: number, content: string) =>
    `<g transform="translate(${x} ${y})">\n${content}\n</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Speed of the service and its peers">
<style>${STYLE}</style>
<rect class="page" width="${WIDTH}" height="${height}" rx="6"/>
${place(10, 12, drawBars(bars[0], true))}
${place(second, 12, drawBars(bars[1], false))}
${place(10, barsHeight + 24, drawLines(lines[0]))}
${place(second, barsHeight + 24, drawLines(lines[1]))}
${text(10, height - 12, note, "note")}
</svg>
`;
}
