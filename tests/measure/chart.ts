// Draws the result of the bench as one SVG, for light and dark pages.

/** A server's figures in the upper panels. */
interface Result {
  server: string;
  "to bare": number;
  "slowest start": number;
  "fastest start": number;
  "p99, ms": number;
}

/** A server's figures in the lower panels, one per number of connections. */
export type Scaling = { server: string; speeds: number[]; memory: number[] };

export const CONNECTIONS = [1, 10, 100, 1000];
const ROW_PX = 24; // distance between bars
const TICK_PX = 100; // distance between numbers of connections
const PLOT_HEIGHT_PX = 170;
const NOTE_PX = 16; // distance between lines of notes

const STYLE = `
  svg { --page: #ffffff; --text: #1f2328; --muted: #59636e; --grid: #d1d9e0;
    --this: #0969da; --bare: #8250df; --nginx: #1a7f37; --other: #9aa4ae; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --text: #f0f6fc; --muted: #9198a1; --grid: #3d444d;
      --this: #4493f8; --bare: #ab7df8; --nginx: #3fb950; --other: #656c76; }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text); }
  .title { font-weight: 600; font-size: 14px; }
  .note { fill: var(--muted); font-size: 12px; }
  .end { text-anchor: end; } .middle { text-anchor: middle; }
  .bar { fill: var(--server); } .grid { stroke: var(--grid); }
  .line { stroke: var(--server); stroke-width: 2.5; fill: none; }
`;

/** Returns the style that sets a server's color, chosen by its name. */
function color(server: string): string {
  return `style="--server:var(--${server.match(/\w+/)},var(--other))"`;
}

function text(x: number, y: number, content: string, style = ""): string {
  return `<text x="${x}" y="${y}" class="${style}">${content}</text>`;
}

function panel(x: number, y: number, title: string, parts: string[]): string {
  const content = [text(0, -24, title, "title"), ...parts].join("\n");
  return `<g transform="translate(${x} ${y})">\n${content}\n</g>`;
}

/** Draws a bar for each server, with a text that begins with its value. */
function drawBars(
  servers: string[],
  values: number[],
  width: number,
  more = (_row: number) => "",
) {
  const highest = Math.max(...values);
  return values.map((value, row) => {
    const length = Math.max(1, Math.round(width * value / highest));
    const y = ROW_PX * row;
    const size = `y="${y - 12}" width="${length}" height="16" rx="2"`;
    return `<rect class="bar" ${size} ${color(servers[row]!)}/>` +
      text(length + 6, y, value.toFixed(2) + more(row));
  });
}

/** Draws a figure as one line per server, with its name below the plot. */
function drawLines(all: Scaling[], figure: "speeds" | "memory") {
  const highest = Math.max(...all.flatMap((scaling) => scaling[figure]));
  const top = 20 * Math.ceil(highest / 20);
  const y = (value: number) => Math.round(PLOT_HEIGHT_PX * (1 - value / top));
  const grid = [0, top / 2, top].map((value) =>
    `<path class="grid" d="M0 ${y(value)}h${3 * TICK_PX}"/>` +
    text(-8, y(value) + 4, String(value), "note end")
  );
  const ticks = CONNECTIONS.map((count, index) =>
    text(TICK_PX * index, y(0) + 18, count.toLocaleString("en"), "note middle")
  );
  const unit = text(1.5 * TICK_PX, y(0) + 36, "connections", "note middle");
  const lines = all.map(({ server, [figure]: values }, index) => {
    const points = values.map((value, i) => `${TICK_PX * i},${y(value)}`);
    const x = 115 * index;
    return `<g class="line" ${color(server)}>` +
      `<polyline points="${points.join(" ")}"/>` +
      `<path d="M${x} ${y(0) + 58}h16"/></g>` +
      text(x + 22, y(0) + 62, server.split(/ Deno|,/, 1)[0]!);
  });
  return [...grid, ...ticks, unit, ...lines];
}

/** Draws two panels of bars, and below them two of lines. */
export function drawChart(
  results: Result[],
  scaling: Scaling[],
  notes: string[],
): string {
  const servers = results.map(({ server }) => server);
  const names = servers.map((name, row) => text(-8, ROW_PX * row, name, "end"));
  const range = (row: number) => {
    const { "slowest start": from, "fastest start": to } = results[row]!;
    return ` (${from.toFixed(2)} to ${to.toFixed(2)})`;
  };
  const speeds = results.map((it) => it["to bare"]);
  const ratios = drawBars(servers, speeds, 110, range);
  const latencies = drawBars(servers, results.map((it) => it["p99, ms"]), 320);
  const scaled = drawLines(scaling, "speeds");
  const memory = drawLines(scaling, "memory");
  const lower = 104 + ROW_PX * results.length;
  const notesAt = lower + PLOT_HEIGHT_PX + 90;
  const height = notesAt + NOTE_PX * notes.length;
  const captions = notes.map((note, row) =>
    text(10, notesAt + NOTE_PX * row, note, "note")
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 ${height}"
  role="img" aria-label="Speed of the service and its peers">
<style>${STYLE}</style>
<rect width="840" height="${height}" rx="6" style="fill:var(--page)"/>
${panel(200, 50, "Throughput (bare = 1)", [...names, ...ratios])}
${panel(460, 50, "99th percentile of the latency, ms", latencies)}
${panel(58, lower, "Throughput, 1,000 requests/s", scaled)}
${panel(488, lower, "Memory after the load, MB", memory)}
${captions.join("\n")}
</svg>
`;
}
