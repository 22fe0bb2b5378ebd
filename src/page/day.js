// The last day of a number, and its graph. Times are those of the board's clock, in ms.

import { countDecimals, formatDuration, formatNumber } from "./values.js";

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
 */

/** Parses the history: the day of each number by its label, and when the last slot ended. */
export function parseHistory(csv) {
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

/** Adds a point to those of a number, or a gap, and drops those that slots cover by now. */
export function addPoint(before, number, now) {
  const { points = [], isAfterGap = false, decimals = 0 } = before ?? {};
  if (points.some(({ end }) => end === now)) {
    return { points, isAfterGap, decimals };
  }
  const kept = points.filter(({ end }) => end < now && end > now - KEPT_MS);
  if (!Number.isFinite(number)) {
    return { points: kept, isAfterGap: true, decimals };
  }
  const [low, mean, high] = Array(3).fill(number);
  return {
    points: [...kept, { start: now, end: now, low, mean, high, isAfterGap }],
    isAfterGap: false,
    decimals: Math.max(decimals, countDecimals(number)),
  };
}

/** Whether a value is a text, or a whole number that has told nothing new for an hour. */
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
 */
export function updateGraph(day, points, { now, slotsEnd, decimals, kind }) {
  const spans = joinSpans(day.spans, points, slotsEnd)
    .filter(({ start }) => start > now - DAY_MS);
  const last = spans[spans.length - 1];
  if (!last || last.end - spans[0].start < MIN_LINE_MS) return undefined;
  spans[0] = { ...spans[0], isAfterGap: true };
  const hours = Math.ceil((now - spans[0].start) / HOUR_MS);
  const pixel = hours * HOUR_MS / PIXELS;
  const end = Math.ceil(now / pixel) * pixel;
  const graph = /** @type {Day} */ (day).graph;
  const isSame = graph?.end === end && graph.decimals === decimals &&
    graph.kind === kind && last.low >= graph.lowest.low &&
    last.high <= graph.highest.high;
  const isStep = kind === "boolean" && last.mean !== graph?.last.mean;
  if (isSame && !isStep) return graph;
  return day.graph = createGraph(spans, end, now, decimals, kind);
}

/** Adds points to the slots that they are after. The first continues these if none is missing. */
function joinSpans(slots, points, slotsEnd) {
  const last = slots[slots.length - 1];
  const [first, ...rest] = points.filter(({ end }) => !last || end > slotsEnd);
  if (!first) return slots;
  const isAfterGap = first.isAfterGap || last?.end < slotsEnd;
  return [...slots, { ...first, isAfterGap }, ...rest];
}

/** @param {Span[]} spans */
function createGraph(spans, end, now, decimals, kind) {
  const last = spans[spans.length - 1];
  const start = Math.max(end - DAY_MS, Math.min(end - SLOT_MS, spans[0].start));
  const lowest = spans.reduce((a, b) => b.low < a.low ? b : a);
  const highest = spans.reduce((a, b) => b.high > a.high ? b : a);
  const low = formatNumber(lowest.low, decimals);
  const high = formatNumber(highest.high, decimals);
  const isFlat = low === high;
  const scale = Math.max(Math.abs(lowest.low), Math.abs(highest.high));
  const from = lowest.low / scale; // the difference of the numbers may be infinite
  const range = highest.high / scale - from;
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toY = (number) =>
    isFlat ? 50 : Math.round(95 - 90 * ((number / scale - from) / range));
  const times = listTimes(start, end);
  const grid = times.map((time) => `M${toX(time)},0V100`).join("");
  const labels = times.map((time) =>
    `<time style="left:${toX(time) / PIXELS * 100}%">${formatTime(time)}</time>`
  ).join("");
  const html = `<svg viewBox="0 0 ${PIXELS} 100" preserveAspectRatio="none"
    fill="none" aria-hidden="true"><path stroke="#8886" d="${grid}"/>
    ${drawPaths(spans, kind, toX, toY)}</svg>`;
  const at = ({ end }) => `at ${formatTime(end, now)}`;
  const summaries = {
    number: `low ${low} ${at(lowest)}, high ${high} ${at(highest)}`,
    boolean: summarizeBoolean(spans, now),
    direction: "", // 359° is not high
  };
  const summary = isFlat ? "no change" : summaries[kind];
  const drawn = { start, end, spans, lowest, highest, last };
  return { ...drawn, kind, decimals, html, labels, summary };
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

/** Tells how long a boolean was true and, unless it is silent, since when it is what it is. */
function summarizeBoolean(spans, now) {
  let trueMs = 0;
  let since = 0;
  spans.forEach(({ start, end, mean, isAfterGap }, index) => {
    const next = spans[index + 1];
    trueMs += mean * ((next && !next.isAfterGap ? next.start : end) - start);
    if (isAfterGap || mean !== spans[index - 1].mean) since = start;
  });
  const { mean, end } = spans[spans.length - 1];
  const text = `true for ${formatDuration(trueMs / 1000)}`;
  return end < now
    ? text
    : `${text}, ${mean === 1} since ${formatTime(since, now)}`;
}

/** Tells what a graph has at a place, from 0 at its left to 1 at its right. */
export function readGraph(graph, place) {
  const { start, end, spans, last, kind, decimals } =
    /** @type {Graph} */ (graph);
  const time = start + place * (end - start);
  const span = spans.find((it) => it.end >= time) ?? last;
  const isCut = span.isAfterGap || time > span.end;
  const distance = Math.max(span.start - time, time - span.end);
  if (isCut && distance > 2 * (end - start) / PIXELS) {
    return `${formatTime(time)}: no reading`;
  }
  const numbers = kind === "direction" ? [span.mean] : [span.low, span.high];
  const texts = numbers.map((number) =>
    kind === "boolean" ? `${number === 1}` : formatNumber(number, decimals)
  );
  return `${formatTime(span.end)}: ${[...new Set(texts)].join(" to ")}`;
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
