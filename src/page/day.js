// The last day of a number, and its graph. Times are those of the board's clock, in ms.

import { countDecimals, formatDuration } from "./values.js";
import { formatNumber, formatValue } from "./values.js";

const SLOT_MS = 5 * 60_000;
const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 10 * 60_000; // for points: slots cover them before
const MIN_LINE_MS = 60_000; // a shorter one tells nothing
const PIXELS = 600; // in the width of a graph
const MAX_TIMES = 4; // below it
const STEPS_MINUTES = [1, 2, 5, 10, 30, 60, 120, 360];

/**
 * A slot of the history, or a point that the page has seen, which starts when it ends. No line
 * leads to what is after a gap.
 *
 * @typedef {Record<"start" | "end" | "low" | "mean" | "high", number>} Numbers
 * @typedef {Numbers & { isAfterGap: boolean }} Span
 * @typedef {ReturnType<typeof createGraph>} Graph
 * @typedef {{ spans: Span[], decimals: number, graph?: Graph }} Day
 * @typedef {{ points: Span[], isAfterGap: boolean, decimals: number }} Seen
 * @typedef {import("./values.js").Kind} Kind
 * @typedef {{ decimals: number, kind: Kind, unit: string, isCompass: boolean }} Style
 */

/** Parses the history: the day of each number by its label, and when the last slot ended. */
export function parseHistory(/** @type {string} */ csv) {
  const [header = [], ...rows] = parseCsv(csv);
  const days = /** @type {Map<string, Day>} */ (new Map());
  const ends = rows.map(([time]) => Date.parse(time));
  for (let column = 1; column < header.length; column += 3) {
    const spans = /** @type {Span[]} */ ([]);
    let decimals = 0;
    rows.forEach((row, index) => {
      const [low, mean, high] = row.slice(column, column + 3).map(Number);
      if (!row[column]) return;
      const end = ends[index];
      const isAfterGap = !rows[index - 1]?.[column];
      spans.push({ start: end - SLOT_MS, end, low, mean, high, isAfterGap });
      decimals = Math.max(decimals, countDecimals(low), countDecimals(high));
    });
    days.set(header[column].slice("min".length), { spans, decimals });
  }
  return { days, end: ends[ends.length - 1] ?? -Infinity };
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

/**
 * Adds a point to those of a number, or a gap, and drops those that slots cover by now.
 *
 * @param {Seen | undefined} before
 * @param {number | undefined} number
 * @param {number} now
 * @returns {Seen}
 */
export function addPoint(before, number, now) {
  const { points = [], isAfterGap = false, decimals = 0 } = before ?? {};
  if (points.some(({ end }) => end === now)) {
    return { points, isAfterGap, decimals };
  }
  const kept = points.filter(({ end }) => end < now && end > now - KEPT_MS);
  if (number === undefined || !Number.isFinite(number)) {
    return { points: kept, isAfterGap: true, decimals };
  }
  const [low, mean, high] = Array(3).fill(number);
  return {
    points: [...kept, { start: now, end: now, low, mean, high, isAfterGap }],
    isAfterGap: false,
    decimals: Math.max(decimals, countDecimals(number)),
  };
}

/**
 * Whether a value is a text, or a whole number that has told nothing new for an hour.
 *
 * @param {{ value?: unknown, unit: string }} value
 * @param {Span[]} spans
 */
export function isPlain({ value, unit }, spans) {
  const number = value ?? spans[0]?.low;
  if (typeof number === "boolean") return false;
  if (unit !== "" || !Number.isInteger(number)) return !Number.isFinite(number);
  return spans.length >= HOUR_MS / SLOT_MS &&
    spans.every(({ low, high }) => low === number && high === number);
}

/**
 * Returns the graph of a day and of points, if there is a line to see. Nothing in its HTML is a
 * text of the board. The graph before stays until it moves by a pixel.
 *
 * @param {Day} day
 * @param {Span[]} points
 * @param {number} now
 * @param {number} slotsEnd
 * @param {Style} style
 */
export function updateGraph(day, points, now, slotsEnd, style) {
  const spans = joinSpans(day.spans, points, slotsEnd)
    .filter(({ start }) => start > now - DAY_MS);
  const last = spans[spans.length - 1];
  if (!last || last.end - spans[0].start < MIN_LINE_MS) return undefined;
  spans[0] = { ...spans[0], isAfterGap: true };
  const hours = Math.ceil((now - spans[0].start) / HOUR_MS);
  const pixel = hours * HOUR_MS / PIXELS;
  const end = Math.ceil(now / pixel) * pixel;
  const { decimals, kind } = style;
  const { graph } = day;
  const isSame = graph?.end === end && graph.decimals === decimals &&
    graph.kind === kind && last.low >= graph.lowest.low &&
    last.high <= graph.highest.high;
  const isStep = kind === "boolean" && last.mean !== graph?.last.mean;
  if (isSame && !isStep) return graph;
  return day.graph = createGraph(spans, end, now, style);
}

/** Adds points to the slots that they are after. The first continues these if none is missing. */
function joinSpans(slots, points, slotsEnd) {
  const last = slots[slots.length - 1];
  const [first, ...rest] = points.filter(({ end }) => !last || end > slotsEnd);
  if (!first) return slots;
  const isAfterGap = first.isAfterGap || last?.end < slotsEnd;
  return [...slots, { ...first, isAfterGap }, ...rest];
}

function createGraph(
  /** @type {Span[]} */ joined,
  end,
  now,
  /** @type {Style} */ style,
) {
  const { kind, decimals } = style;
  const isNumber = kind === "number";
  const [bottom, top] = findLimits(joined, kind);
  const turn = (it) => ({ ...it, mean: toTurn(it.mean, bottom) });
  const spans = kind === "direction" ? joined.map(turn) : joined;
  const last = spans[spans.length - 1];
  const start = Math.max(end - DAY_MS, Math.min(end - SLOT_MS, spans[0].start));
  const lowest = spans.reduce((a, b) => b.low < a.low ? b : a);
  const highest = spans.reduce((a, b) => b.high > a.high ? b : a);
  const [low, high] = [lowest.low, highest.high]
    .map((it) => formatNumber(it, decimals));
  const isFlat = low === high;
  const rise = isNumber ? findRise(spans, decimals) : "";
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toMiddle = ({ start, end }) => toX((start + end) / 2);
  const toY = createScale(bottom, top, style);
  const lines = listLines(bottom, style);
  const extremes = isNumber && !isFlat
    ? place("sup", toMiddle(rise ? last : highest), high) +
      place("sub", toMiddle(lowest), low) + place("sup", 0, rise)
    : "";
  const times = listTimes(start, end);
  const grid = times.map((time) => `M${toX(time)},0V100`)
    .concat(lines.map(([number]) => `M0,${toY(number)}H${PIXELS}`)).join("");
  const texts = lines.map(([number, text]) =>
    `<i style="--y:${toY(number) / 100}">${text}</i>`
  ).join("");
  const html = `<svg viewBox="0 0 ${PIXELS} 100" preserveAspectRatio="none"
    fill="none" aria-hidden="true"><path stroke="#8886" d="${grid}"/>
    ${drawPaths(spans, kind, toX, toY)}</svg><div aria-hidden="true">
    ${extremes}${texts}${labelTimes(times, toX)}<mark hidden></mark></div>`;
  const at = ({ end }) => `at ${formatTime(end, now)}`;
  const more = rise && `, ${rise}`;
  const summaries = {
    number: `low ${low} ${at(lowest)}, high ${high} ${at(highest)}${more}`,
    boolean: summarizeBoolean(spans),
    direction: "", // 359° is not high
  };
  const summary = isFlat ? "no change" : summaries[kind];
  const since = kind === "boolean" && !isFlat ? findSince(spans, now) : "";
  const drawn = { start, end, spans, lowest, highest, last };
  return { ...drawn, ...style, html, summary, since };
}

/** Writes a text at a place of a graph, within which the style keeps it. */
const place = (name, x, text) =>
  `<${name} style="--x:${x / PIXELS};--n:${text.length}">${text}</${name}>`;

/** Labels times with hours, if that is enough. Every second one needs a wide graph. */
function labelTimes(times, toX) {
  const isHours = times.every((time) => new Date(time).getMinutes() === 0);
  const texts = times.map((it) => isHours ? formatHour(it) : formatTime(it));
  const longest = Math.max(0, ...texts.map((text) => text.length));
  const labels = times.map((it, index) => place("time", toX(it), texts[index]));
  const need = Math.ceil(MAX_TIMES * (0.6 * longest + 1));
  return `<p style="--need:${need}em">${labels.join("")}</p>`;
}

/** Returns the limits of a scale: of the means, since one false reading would flatten a day. */
function findLimits(spans, kind) {
  if (kind === "boolean") return [0, 1];
  const means = spans.map(({ mean }) => mean);
  if (kind === "number") return [Math.min(...means), Math.max(...means)];
  const bottom = spans.some(({ low }) => low < 0) ? -180 : 0;
  return [bottom, bottom + 360];
}

/**
 * Returns a function from a number to its height, from 0 at the top to 100. What is out of the
 * limits is cut. A number has ten of its last digit at least: one is no mountain.
 */
function createScale(bottom, top, { kind, decimals }) {
  const scale = Math.max(Math.abs(bottom), Math.abs(top)) || 1;
  const center = bottom / scale / 2 + top / scale / 2; // a sum may be infinite
  const isTiny = scale < 1e-6; // which has an exponent, and no decimals
  const least = kind === "number" && !isTiny ? 10 ** (1 - decimals) / scale : 0;
  const range = Math.max(top / scale - bottom / scale, least) || 1;
  const half = kind === "direction" ? 40 : 26;
  return (number) => {
    const height = 2 * half * ((number / scale - center) / range);
    return Math.round(50 - Math.min(Math.max(height, -half - 2), half + 2));
  };
}

/** Lists the numbers at which a graph has a line, and their texts. */
function listLines(bottom, { kind, isCompass }) {
  if (kind === "number") return [];
  if (kind === "boolean") return [[0, "no"], [1, "yes"]];
  const points = isCompass ? [0, 90, 180, 270, 360] : [0, 180, 360];
  return points.map((it) => bottom + it)
    .map((it) => [it, isCompass ? "NESW"[(it + 360) / 90 % 4] : `${it}°`]);
}

/** Returns the same direction in the turn that begins at another one. */
const toTurn = (direction, start) =>
  direction - 360 * Math.floor((direction - start) / 360);

/** Tells by how much a number has risen that has not fallen in an hour or more. */
function findRise(spans, decimals) {
  const [{ start, low }] = spans;
  const { end, high } = spans[spans.length - 1];
  const falls = (span, index) => span.low < spans[index - 1]?.high;
  if (end - start < HOUR_MS || high === low || spans.some(falls)) return "";
  return `+${formatNumber(high - low, decimals)}`;
}

/** Draws a band from low to high, and a line: steps for a boolean, no band for a direction. */
function drawPaths(spans, kind, toX, toY) {
  let line = "";
  let band = "";
  let before = { x: NaN, mean: NaN };
  for (const { start, end, low, mean, high, isAfterGap } of spans) {
    const [left, x, right] = [start, (start + end) / 2, end].map(toX);
    const isTurn = kind === "direction" && Math.abs(mean - before.mean) > 180;
    const isStart = isAfterGap || isTurn;
    if (!isStart && x === before.x) continue;
    const y = toY(kind === "boolean" ? Math.round(mean) : mean);
    // h0 makes a single point a dot
    if (kind !== "boolean") line += `${isStart ? "M" : "L"}${x},${y}h0`;
    else line += `${isStart ? `M${left},${y}` : `H${left}V${y}`}H${right}h0`;
    before = { x, mean };
    if (kind === "direction") continue;
    band += `M${left},${toY(low)}H${right}V${toY(high)}H${left}Z`;
  }
  return `<path fill="#2f80ed66" d="${band}"/>
    <path stroke="#2f80ed" stroke-width="2" stroke-linecap="round" d="${line}"/>`;
}

/** Tells how long a boolean was true. A gap does not count. */
function summarizeBoolean(spans) {
  const lengths = spans.map(({ start, end, mean }, index) => {
    const next = spans[index + 1];
    const restMs = next && !next.isAfterGap
      ? next.mean * (next.start - end)
      : 0;
    return mean * (end - start) + restMs;
  });
  const trueMs = lengths.reduce((sum, it) => sum + it, 0);
  return `yes for ${formatDuration(trueMs / 1000)}`;
}

/** Tells since when a boolean is what it is, to five minutes, or since it is known again. */
function findSince(spans, now) {
  let since = 0;
  spans.forEach(({ start, mean, isAfterGap }, index) => {
    const before = spans[index - 1];
    if (isAfterGap) since = start;
    else if (mean !== before.mean) {
      // As if the slot before had one change
      const share = mean === 1 ? before.mean : 1 - before.mean;
      since = before.end - share * (before.end - before.start);
    }
  });
  const { mean } = spans[spans.length - 1];
  return `${formatValue(mean === 1)} since ${formatTime(since, now)}`;
}

/**
 * Tells what a graph has at a place, from 0 at its left to 1 at its right.
 *
 * @param {Graph} graph
 * @param {number} place
 * @param {number} now
 */
export function readGraph(graph, place, now) {
  const { start, end, spans, last } = graph;
  const time = start + place * (end - start);
  const span = spans.find((it) => it.end >= time) ?? last;
  const isCut = span.isAfterGap || time > span.end;
  const distance = Math.max(span.start - time, time - span.end);
  if (isCut && distance > 2 * (end - start) / PIXELS) {
    return `${formatTime(time, now)}: no reading`;
  }
  return `${formatTime(span.end, now)}: ${formatSpan(span, graph)}`;
}

/** Formats the mean that the line draws and, if it differs, the range. */
function formatSpan({ start, end, low, mean, high }, { kind, decimals, unit }) {
  if (kind === "boolean") {
    const seconds = mean * (end - start) / 1000;
    return mean % 1
      ? `yes for ${formatDuration(seconds)}`
      : formatValue(!!mean);
  }
  const rounded = Number(mean.toFixed(Math.min(decimals + 1, 100)));
  const isRange = kind === "number" && low !== high;
  const number = kind === "number"
    ? Math.min(Math.max(rounded, low), high)
    : rounded;
  const text = `${formatNumber(number, decimals)} ${unit}`.trim();
  const texts = [low, high].map((it) => formatNumber(it, decimals));
  return isRange ? `${text} (${texts.join(" to ")})` : text;
}

/** Lists round local times between two times, but not close to them. */
function listTimes(start, end) {
  const span = end - start;
  const isWide = (step) => span / step <= MAX_TIMES * 60_000;
  const step = STEPS_MINUTES.find(isWide) ?? DAY_MS / 60_000;
  const date = new Date(start);
  const minutes = date.getHours() * 60 + date.getMinutes();
  const times = [];
  // The calendar knows when clocks are changed
  date.setHours(0, Math.floor(minutes / step) * step, 0, 0);
  for (; +date < end - span / 9; date.setMinutes(date.getMinutes() + step)) {
    if (+date > start + span / 9) times.push(+date);
  }
  return times;
}

/** Formats a time in the zone in which the browser is now, and tells if it is of yesterday. */
function formatTime(time, now = time) {
  const [day, today] = [time, now].map((it) => new Date(it).toDateString());
  const text = new Intl.DateTimeFormat([], { timeStyle: "short" }).format(time);
  return day === today ? text : `${text} yesterday`;
}

/** Formats an hour as briefly as the language permits: "6 PM", "18". */
function formatHour(time) {
  return new Intl.DateTimeFormat([], { hour: "numeric" }).formatToParts(time)
    .filter(({ type }) => type === "hour" || type === "dayPeriod")
    .map(({ value }) => value).join(" ");
}
