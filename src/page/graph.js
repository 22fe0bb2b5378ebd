// The history, and its graphs. Times are those of the board's clock, in ms.

import { toTurn } from "../sensor/series.js";
import { countDecimals, formatNumber, formatValue } from "./values.js";
import { joinUnit, toNumber } from "./values.js";

const MINUTE_MS = 60_000;
export const SLOT_MS = 5 * MINUTE_MS;
export const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 10 * MINUTE_MS; // for points: slots cover them before
const MAX_STEP_MS = SLOT_MS + 30_000; // without a gap: the next slot may be late
const MIN_WHOLE_RANGE = 4; // of the scale of whole numbers
export const PIXELS = 600; // in the width of a graph

/**
 * A slot of the history, or a point that the page has seen, which starts when it ends.
 *
 * @typedef {Record<"start" | "end" | "low" | "mean" | "high", number>} Span
 * @typedef {NonNullable<ReturnType<typeof createGraph>>} Graph
 * @typedef {{ spans: Span[], decimals: number }} Series
 */

/** Parses the history: its series by name, and when the last slot ended. */
export function parseHistory(/** @type {string} */ csv) {
  const [header = [], ...rows] = parseCsv(csv);
  const series = /** @type {Map<string, Series>} */ (new Map());
  const ends = rows.map(([time]) => Date.parse(time));
  for (let column = 1; column < header.length; column += 3) {
    const spans = /** @type {Span[]} */ ([]);
    let decimals = 0;
    rows.forEach((row, index) => {
      const cells = row.slice(column, column + 3);
      if (!cells[0]) return;
      const [low, mean, high] = cells.map(Number);
      const end = ends[index];
      spans.push({ start: end - SLOT_MS, end, low, mean, high });
      decimals = Math.max(decimals, ...[low, high].map(countDecimals));
    });
    series.set(header[column].slice("min".length), { spans, decimals });
  }
  return { series, end: ends[ends.length - 1] ?? -Infinity };
}

/** Parses CSV (RFC 4180) in which each line has its end. */
function parseCsv(csv) {
  const rows = /** @type {string[][]} */ ([[]]);
  const cells = csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy);
  for (const [, quoted, plain, end] of cells) {
    rows[rows.length - 1].push(quoted?.replace(/""/g, '"') ?? plain);
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
}

/** Adds a value to points, unless it is a text, and drops old ones, which slots cover. */
export function addPoint(/** @type {Span[]} */ points, value, now) {
  if (points.some(({ end }) => end === now)) return points;
  const kept = points.filter(({ end }) => end < now && end > now - KEPT_MS);
  const mean = toNumber(value);
  if (!Number.isFinite(mean)) return kept;
  return [...kept, { start: now, end: now, low: mean, mean, high: mean }];
}

/** Whether something is missing before a span, so that no line leads to it. */
const isAfterGap = (span, before) =>
  !before || span.end - before.end > MAX_STEP_MS;

/** Joins points, as a slot will: a line to a single one would rise or fall by what is noise. */
function joinPoints(/** @type {Span[]} */ points) {
  const gap = points.findIndex((it, i) => i && isAfterGap(it, points[i - 1]));
  const parts = [points.slice(0, gap), points.slice(gap)];
  if (gap > 0) return parts.flatMap(joinPoints);
  const numbers = points.map(({ low }) => low);
  const mean = numbers.reduce((sum, it) => sum + it / numbers.length, 0); // never infinite
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const [{ start }, { end }] = [points[0], points[points.length - 1]];
  return [{ start, end, low, mean, high }];
}

/** Returns the graph of a series and points, if there is a line to see. */
export function createGraph(/** @type {Series} */ series, points, style, now) {
  const { kind, decimals } = style;
  const slot = series.spans[series.spans.length - 1];
  const seen = points.filter(({ end }) => !slot || end > slot.end);
  const isNumber = kind === "number";
  const isJoined = isNumber && slot && seen.length > 0;
  const joined = [...series.spans, ...isJoined ? joinPoints(seen) : seen]
    .filter(({ start }) => start > now - DAY_MS);
  const [bottom, top] = findLimits(joined, kind);
  const turn = (span) => ({ ...span, mean: toTurn(span.mean, bottom) });
  const spans = kind === "direction" ? joined.map(turn) : joined;
  const last = spans[spans.length - 1];
  if (!last || last.end - spans[0].start < MINUTE_MS) return undefined;
  // It moves by whole pixels, so that most answers change nothing
  const hours = Math.ceil((now - spans[0].start) / HOUR_MS);
  const pixel = hours * HOUR_MS / PIXELS;
  const end = Math.ceil(now / pixel) * pixel;
  const start = Math.max(end - DAY_MS, Math.min(end - SLOT_MS, spans[0].start));
  const lowest = spans.reduce((a, b) => b.low < a.low ? b : a);
  const highest = spans.reduce((a, b) => b.high > a.high ? b : a);
  const low = formatNumber(lowest.low, decimals);
  const high = formatNumber(highest.high, decimals);
  const isFlat = low === high;
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toY = createScale(bottom, top, decimals);
  const dot = ({ start, end }, y) => `M${toX((start + end) / 2)},${toY(y)}h0`;
  const dots = dot(lowest, lowest.low) + dot(highest, highest.high);
  const tell = (text, { end }) => `${text} at ${formatTime(end, now)}`;
  const texts = {
    number: `${low} to ${high}`,
    boolean: `${tellBoolean(last)} since ${formatTime(findChange(spans), now)}`,
    direction: `scale ${formatNumber(bottom)}° to ${top}°`, // 359° is not high
  };
  const brief = isFlat ? "no change" : texts[kind];
  const range = `low ${tell(low, lowest)}, high ${tell(high, highest)}`;
  const full = isNumber && !isFlat ? range : brief;
  const drawn = drawPaths(spans, kind, toX, toY);
  const paths = { ...drawn, dots: isNumber ? dots : "" };
  return { start, end, spans, isFlat, brief, full, paths, ...style };
}

/** Returns the limits of a scale: of the means, since one false reading would flatten the rest. */
function findLimits(spans, kind) {
  if (kind === "boolean") return [0, 1];
  const means = spans.map(({ mean }) => mean);
  if (kind === "number") return [Math.min(...means), Math.max(...means)];
  const bottom = spans.some(({ low }) => low < 0) ? -180 : 0;
  return [bottom, bottom + 360];
}

/** Returns a function from a number to its percentage from the top, cut just beyond the limits. */
function createScale(bottom, top, decimals) {
  const scale = Math.max(Math.abs(bottom), Math.abs(top)) || 1;
  const center = bottom / scale / 2 + top / scale / 2; // a sum may be infinite
  const few = Math.min(MIN_WHOLE_RANGE, scale); // some have an exponent
  const least = decimals > 0 ? 10 ** (1 - decimals) : few; // one is no mountain
  const range = Math.max(top / scale - bottom / scale, least / scale);
  return (number) => {
    const height = 52 * (number / scale - center) / range;
    return Math.round(50 - Math.min(Math.max(height, -28), 28));
  };
}

/** Draws a band from low to high, and a line: steps for a boolean, no band for a direction. */
function drawPaths(spans, kind, toX, toY) {
  let line = "";
  let band = "";
  let drawn = { x: NaN, mean: NaN };
  spans.forEach((span, index) => {
    const { start, end, low, mean, high } = span;
    const [left, x, right] = [start, (start + end) / 2, end].map(toX);
    const isTurn = kind === "direction" && Math.abs(mean - drawn.mean) > 180;
    const isStart = isTurn || isAfterGap(span, spans[index - 1]);
    if (!isStart && x === drawn.x) return;
    const y = toY(kind === "boolean" ? Math.round(mean) : mean);
    // h0 makes a single point a dot. A slot with both may be narrower than a pixel
    const both = low < high ? `V${toY(high)}V${toY(low)}V${y}` : "";
    const begin = isStart ? `M${left},${y}` : `H${left}V${y}`;
    if (kind === "boolean") line += `${begin}${both}H${right}h0`;
    else line += `${isStart ? "M" : "L"}${x},${y}h0`;
    drawn = { x, mean };
    if (kind === "direction") return;
    band += `M${left},${toY(low)}H${right}V${toY(high)}H${left}Z`;
  });
  return { band, line };
}

/** Returns since when a boolean is what it is, to five minutes, or since it is known again. */
const findChange = (/** @type {Span[]} */ spans) =>
  spans.reduce((since, span, index) => {
    const before = spans[index - 1];
    if (isAfterGap(span, before)) return span.start;
    return span.mean === before.mean ? since : before.end;
  }, 0);

/** Returns what a value was at a time, its unit, and its place there, from 0 at the left to 1. */
export function readGraph(/** @type {Graph} */ graph, time) {
  const { start, end, spans, kind, unit, decimals } = graph;
  const place = (time - start) / (end - start);
  const index = spans.findIndex((candidate) => candidate.end >= time);
  // After the last one there is nothing, as after a gap
  const span = spans[index] ?? spans[spans.length - 1];
  const isCut = isAfterGap(span, spans[index - 1]);
  const distance = Math.max(span.start - time, time - span.end);
  const isNone = distance > 2 * Math.max(end - start, HOUR_MS) / PIXELS;
  if (isCut && isNone) return { place, text: "", small: "no reading" };
  const { mean } = span;
  const few = Math.abs(mean) < 100 ? 1 : 0; // decimals of what has none
  const number = formatNumber(Number(mean.toFixed(decimals || few)), decimals);
  const text = kind === "boolean" ? tellBoolean(span) : number;
  return { place, text, small: joinUnit("", unit) };
}

/** Tells whether a boolean was true all through a span. */
const tellBoolean = (/** @type {Span} */ { low, high }) =>
  low === high ? formatValue(low === 1) : "yes, no";

// A format keeps the zone in which it was created, which takes long: these have none
const STYLE = { hour: "numeric", minute: "2-digit", timeZone: "UTC" };
const DATES = [{}, { weekday: "short" }, { month: "short", day: "numeric" }];
const [TIME, WEEKDAY, DATE] = /** @type {any[]} */ (DATES)
  .map((date) => new Intl.DateTimeFormat([], { ...STYLE, ...date }));

/** Formats a time in the zone that the browser has now, with its date unless that is today. */
export function formatTime(/** @type {number} */ time, now = time) {
  const [date, today] = [time, now].map((it) => new Date(it).toDateString());
  const isNear = Math.abs(now - time) < 6 * DAY_MS;
  const format = date === today ? TIME : isNear ? WEEKDAY : DATE;
  return format.format(time - MINUTE_MS * new Date(time).getTimezoneOffset());
}
