// The last day of a number, and its graph. Times are those of the board's clock, in ms.

import { toTurn } from "../sensor/walk.js";
import { countDecimals, formatNumber, formatValue } from "./values.js";

const SLOT_MS = 5 * 60_000;
const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 10 * 60_000; // for points: slots cover them before
const MAX_STEP_MS = SLOT_MS + 30_000; // without a gap: the next slot may be late
const MIN_LINE_MS = 60_000; // a shorter one tells nothing
const MIN_STEPS = 12; // of the mark, along a graph
const PIXELS = 600; // in the width of a graph
const MAX_TIMES = 3; // below it: a phone has room for them
const STEPS_MINUTES = [1, 2, 5, 10, 30, 60, 120, 240, 480];

/**
 * A slot of the history, or a point that the page has seen, which starts when it ends.
 *
 * @typedef {Record<"start" | "end" | "low" | "mean" | "high", number>} Span
 * @typedef {ReturnType<typeof createGraph>} Graph
 * @typedef {{ spans: Span[], decimals: number, graph?: Graph }} Day
 * @typedef {import("./values.js").Kind} Kind
 * @typedef {{ value?: unknown, kind: Kind, unit: string, decimals: number }} Style
 * @typedef {Style & { day: Day, points: Span[] }} Value
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
      spans.push({ start: end - SLOT_MS, end, low, mean, high });
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
 * Adds a number to the points of one, and drops those that slots cover by now.
 *
 * @param {Span[]} points
 */
export function addPoint(points, number, /** @type {number} */ now) {
  if (points.some(({ end }) => end === now)) return points;
  const kept = points.filter(({ end }) => end < now && end > now - KEPT_MS);
  if (!Number.isFinite(number)) return kept;
  const [low, mean, high] = Array(3).fill(number);
  return [...kept, { start: now, end: now, low, mean, high }];
}

/** Whether something is missing before a span, so that no line leads to it. */
const isAfterGap = (span, before) =>
  !before || span.end - before.end > MAX_STEP_MS;

/** Whether a value is a text, or a whole number that has told nothing new for an hour. */
export function isPlain(/** @type {Value} */ value) {
  const { kind, unit, day: { spans }, points } = value;
  const number = value.value ?? (spans[0] ?? points[0])?.low;
  if (kind === "boolean") return false;
  if (unit !== "" || !Number.isInteger(number)) return !Number.isFinite(number);
  return spans.length >= HOUR_MS / SLOT_MS &&
    spans.every(({ low, high }) => low === number && high === number);
}

/**
 * Returns the graph of a value's day and points, if there is a line to see. Nothing in its HTML
 * is a text of the board. The graph before stays until it moves by a pixel or to an extreme.
 */
export function updateGraph(/** @type {Value} */ value, now) {
  const { day, points, kind, decimals } = value;
  const covered = day.spans[day.spans.length - 1]?.end ?? -Infinity;
  const spans = [...day.spans, ...points.filter(({ end }) => end > covered)]
    .filter(({ start }) => start > now - DAY_MS);
  const last = spans[spans.length - 1];
  if (!last || last.end - spans[0].start < MIN_LINE_MS) return undefined;
  const hours = Math.ceil((now - spans[0].start) / HOUR_MS);
  const pixel = hours * HOUR_MS / PIXELS;
  const end = Math.ceil(now / pixel) * pixel;
  const { graph } = day;
  const isStep = kind === "boolean" && last.mean !== graph?.last.mean;
  const isSame = graph?.end === end && graph.kind === kind && !isStep &&
    graph.decimals === decimals && last.low >= graph.lowest.low &&
    last.high <= graph.highest.high;
  return isSame ? graph : day.graph = createGraph(spans, end, now, value);
}

function createGraph(joined, end, now, /** @type {Style} */ style) {
  const { kind, decimals, unit } = style;
  const isNumber = kind === "number";
  const [bottom, top] = findLimits(joined, kind);
  const turn = (span) => ({ ...span, mean: toTurn(span.mean, bottom) });
  const spans = /** @type {Span[]} */ (
    kind === "direction" ? joined.map(turn) : joined
  );
  const last = spans[spans.length - 1];
  const start = Math.max(end - DAY_MS, Math.min(end - SLOT_MS, spans[0].start));
  const lowest = spans.reduce((a, b) => b.low < a.low ? b : a);
  const highest = spans.reduce((a, b) => b.high > a.high ? b : a);
  const low = formatNumber(lowest.low, decimals);
  const high = formatNumber(highest.high, decimals);
  const isFlat = low === high;
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toMiddle = ({ start, end }) => toX((start + end) / 2);
  const toY = createScale(bottom, top, isNumber ? 10 ** (1 - decimals) : 0);
  const extremes = writeAt("sup", toMiddle(highest), high) +
    writeAt("sub", toMiddle(lowest), low);
  const labels = {
    number: isFlat ? "" : extremes,
    boolean: writeAt("sup", 0, "yes") + writeAt("sub", 0, "no"),
    direction: writeAt("sup", 0, `${top}°`) + writeAt("sub", 0, `${bottom}°`),
  };
  const times = listTimes(start, end);
  const limits = isNumber ? [] : [bottom, top];
  const grid = times.map((time) => `M${toX(time)},0V100`)
    .concat(limits.map((limit) => `M0,${toY(limit)}H${PIXELS}`)).join("");
  const texts = times.map((time) =>
    writeAt("time", toX(time), formatBriefly(time))
  );
  const at = ({ end }) => `at ${formatTime(end, now)}`;
  const since = formatTime(findChange(spans), now);
  const summaries = {
    number: `low ${low} ${at(lowest)}, high ${high} ${at(highest)}`,
    boolean: `${formatSpan(last, style)} from ${since}`, // silent now, maybe
    direction: "", // 359° is not high
  };
  const summary = isFlat ? "no change" : summaries[kind];
  const role = isNumber ? `img" aria-label="${summary}` : "presentation";
  const html = `<svg viewBox="0 0 ${PIXELS} 100" preserveAspectRatio="none"
    fill="none" role="${role}"><path stroke="#8886" d="${grid}"/>
    ${drawPaths(spans, kind, toX, toY)}</svg><div aria-hidden="true">
    ${labels[kind]}<p>${texts.join("")}</p></div>`;
  const steps = Math.max(MIN_STEPS, Math.round((end - start) / SLOT_MS));
  const drawn = { start, end, steps, spans, lowest, highest, last };
  return { kind, decimals, unit, ...drawn, html, summary };
}

/** Writes a text over a graph, within which the style keeps it. */
const writeAt = (name, x, text) =>
  `<${name} style="--x:${x / PIXELS};--n:${text.length}">${text}</${name}>`;

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
function createScale(bottom, top, least) {
  const scale = Math.max(Math.abs(bottom), Math.abs(top)) || 1;
  const center = bottom / scale / 2 + top / scale / 2; // a sum may be infinite
  const range = Math.max(top / scale - bottom / scale, least / scale);
  return (number) => {
    const height = 52 * (number / scale - center) / (range || 1);
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
    // h0 makes a single point a dot
    if (kind !== "boolean") line += `${isStart ? "M" : "L"}${x},${y}h0`;
    else line += `${isStart ? `M${left},${y}` : `H${left}V${y}`}H${right}h0`;
    drawn = { x, mean };
    if (kind === "direction") return;
    band += `M${left},${toY(low)}H${right}V${toY(high)}H${left}Z`;
  });
  return `<path fill="#2f80ed66" d="${band}"/>
    <path stroke="#2f80ed" stroke-width="2" stroke-linecap="round" d="${line}"/>`;
}

/** Returns since when a boolean is what it is, to five minutes, or since it is known again. */
const findChange = (/** @type {Span[]} */ spans) =>
  spans.reduce((since, span, index) => {
    const before = spans[index - 1];
    if (isAfterGap(span, before)) return span.start;
    return span.mean === before.mean ? since : before.end;
  }, 0);

/** Tells what a graph has at a place, from 0 at its left to 1 at its right. */
export function readGraph(/** @type {Graph} */ graph, place, now) {
  const { start, end, spans, last } = graph;
  const time = start + place * (end - start);
  const index = spans.findIndex((candidate) => candidate.end >= time);
  const span = spans[index] ?? last; // after which there is nothing, as after a gap
  const isCut = isAfterGap(span, spans[index - 1]);
  const distance = Math.max(span.start - time, time - span.end);
  if (isCut && distance > 2 * Math.max(end - start, HOUR_MS) / PIXELS) {
    return `${formatTime(time, now)}: no reading`;
  }
  return `${formatTime(span.end, now)}: ${formatSpan(span, graph)}`;
}

/** Formats the mean that the line draws and, if it differs, the range. */
function formatSpan({ low, mean, high }, { kind, decimals, unit }) {
  const isRange = low !== high && kind !== "direction";
  if (kind === "boolean") return isRange ? "yes and no" : formatValue(!!low);
  const rounded = Number(mean.toFixed(decimals + 1));
  const text = `${formatNumber(rounded, decimals)} ${unit}`.trim();
  const [from, to] = [low, high].map((end) => formatNumber(end, decimals));
  return isRange ? `${text} (${from} to ${to})` : text;
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

/** Formats a time in the zone in which the browser is now, with the date unless it is of today. */
export function formatTime(/** @type {number} */ time, now = time) {
  const [day, today] = [time, now].map((date) => new Date(date).toDateString());
  const style =
    /** @type {Intl.DateTimeFormatOptions} */ (day === today
      ? { timeStyle: "short" }
      : { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
  return new Intl.DateTimeFormat([], style).format(time);
}

/** Formats a time as briefly as the language permits: "6 PM", "6:30" or "18:00". */
function formatBriefly(time) {
  const isHour = new Date(time).getMinutes() === 0;
  const extra = isHour ? /\p{P}\p{Nd}+(?=\s\D+$)/u : /\s\D+$/;
  return formatTime(time).replace(extra, "");
}
