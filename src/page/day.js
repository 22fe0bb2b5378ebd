// The last day of a number, and its graph. Times are those of the board's clock, in ms.

import { toTurn } from "../sensor/walk.js";
import { countDecimals, formatDuration } from "./values.js";
import { formatNumber, formatValue } from "./values.js";

const SLOT_MS = 5 * 60_000;
const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 10 * 60_000; // for points: slots cover them before
const MIN_LINE_MS = 60_000; // a shorter one tells nothing
const PIXELS = 600; // in the width of a graph
const MAX_TIMES = 3; // below it: a phone has room for them
const STEPS_MINUTES = [1, 2, 5, 10, 30, 60, 120, 240, 480];

/**
 * A slot of the history, or a point that the page has seen, which starts when it ends. No line
 * leads to what is after a gap.
 *
 * @typedef {Record<"start" | "end" | "low" | "mean" | "high", number>} Numbers
 * @typedef {Numbers & { isAfterGap: boolean }} Span
 * @typedef {ReturnType<typeof createGraph>} Graph
 * @typedef {{ spans: Span[], decimals: number, graph?: Graph }} Day
 * @typedef {import("./values.js").Kind} Kind
 * @typedef {{ decimals: number, kind: Kind, unit: string }} Style
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

/** Adds a point to those of a number, or a gap, and drops those that slots cover by now. */
export function addPoint(before, number, /** @type {number} */ now) {
  const { points, isAfterGap, decimals } = before ??
    { points: /** @type {Span[]} */ ([]), isAfterGap: false, decimals: 0 };
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
export function isPlain({ value, unit }, /** @type {Span[]} */ spans) {
  const number = value ?? spans[0]?.low;
  if (typeof number === "boolean") return false;
  if (unit !== "" || !Number.isInteger(number)) return !Number.isFinite(number);
  return spans.length >= HOUR_MS / SLOT_MS &&
    spans.every(({ low, high }) => low === number && high === number);
}

/**
 * Returns the graph of a day and of points, if there is a line to see. Nothing in its HTML is a
 * text of the board. The graph before stays until it moves by a pixel or to an extreme.
 *
 * @param {Day} day
 * @param {Span[]} points
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
  const { graph } = day;
  const { kind, decimals } = style;
  const isStep = kind === "boolean" && last.mean !== graph?.last.mean;
  const isSame = graph?.end === end && graph.kind === kind && !isStep &&
    graph.decimals === decimals && last.low >= graph.lowest.low &&
    last.high <= graph.highest.high;
  return isSame ? graph : day.graph = createGraph(spans, end, now, style);
}

/** Adds points to the slots that they are after. The first continues these if none is missing. */
function joinSpans(slots, points, slotsEnd) {
  const last = slots[slots.length - 1];
  const [first, ...rest] = points.filter(({ end }) => !last || end > slotsEnd);
  if (!first) return slots;
  const isAfterGap = first.isAfterGap || last?.end < slotsEnd;
  return [...slots, { ...first, isAfterGap }, ...rest];
}

function createGraph(joined, end, now, /** @type {Style} */ style) {
  const { kind, decimals } = style;
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
  const rise = isNumber ? findRise(spans, decimals) : "";
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toMiddle = ({ start, end }) => toX((start + end) / 2);
  const toY = createScale(bottom, top, isNumber ? 10 ** (1 - decimals) : 0);
  const highMiddle = toMiddle(rise ? last : highest);
  const extremes = place("sup", highMiddle, high) +
    place("sub", toMiddle(lowest), low) + place("sup", 0, rise);
  const labels = {
    number: isFlat ? "" : extremes,
    boolean: place("sup", 0, "yes") + place("sub", 0, "no"),
    direction: place("sup", 0, `${top}°`) + place("sub", 0, `${bottom}°`),
  };
  const times = listTimes(start, end);
  const limits = isNumber ? [] : [bottom, top];
  const grid = times.map((time) => `M${toX(time)},0V100`)
    .concat(limits.map((limit) => `M0,${toY(limit)}H${PIXELS}`)).join("");
  const isHours = times.every((time) => new Date(time).getMinutes() === 0);
  const texts = times.map((time) =>
    place("time", toX(time), formatBriefly(time, isHours))
  );
  const html = `<svg viewBox="0 0 ${PIXELS} 100" preserveAspectRatio="none"
    fill="none" aria-hidden="true"><path stroke="#8886" d="${grid}"/>
    ${drawPaths(spans, kind, toX, toY)}</svg><div aria-hidden="true">
    ${labels[kind]}<p>${texts.join("")}</p><mark></mark></div>`;
  const at = ({ end }) => `at ${formatTime(end, now)}`;
  const isBoolean = kind === "boolean";
  const more = rise && `, ${rise}`;
  const range = isNumber // of directions, 359° is not high
    ? `low ${low} ${at(lowest)}, high ${high} ${at(highest)}${more}`
    : "";
  const boolean = isBoolean ? summarizeBoolean(spans, now) : undefined;
  const summary = isFlat ? "no change" : boolean?.summary ?? range;
  const since = isFlat ? "" : boolean?.since ?? "";
  const drawn = { start, end, spans, lowest, highest, last };
  return { ...style, ...drawn, html, summary, since };
}

/** Writes a text at a place of a graph, within which the style keeps it. */
const place = (name, x, text) =>
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
  const isTiny = scale < 1e-6; // which has an exponent, and no decimals
  const range = Math.max(
    top / scale - bottom / scale,
    isTiny ? 0 : least / scale,
  );
  return (number) => {
    const height = 52 * (number / scale - center) / (range || 1);
    return Math.round(50 - Math.min(Math.max(height, -28), 28));
  };
}

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

/**
 * Tells how long a boolean was true, without gaps, and since when it is what it is, to five
 * minutes, or since it is known again.
 */
function summarizeBoolean(spans, now) {
  let trueMs = 0;
  let since = 0;
  spans.forEach(({ start, end, mean, isAfterGap }, index) => {
    const before = spans[index - 1];
    trueMs += mean * (end - start);
    if (!isAfterGap) trueMs += before.mean * (start - before.end);
    if (isAfterGap) since = start;
    else if (mean !== before.mean) since = before.end;
  });
  const state = formatValue(spans[spans.length - 1].mean === 1);
  return {
    summary: `yes for ${formatDuration(trueMs / 1000)}`,
    since: `${state} since ${formatTime(since, now)}`,
  };
}

/** Tells what a graph has at a place, from 0 at its left to 1 at its right. */
export function readGraph(/** @type {Graph} */ graph, place, now) {
  const { start, end, spans, last } = graph;
  const time = start + place * (end - start);
  const span = spans.find((candidate) => candidate.end >= time) ?? last;
  const isCut = span.isAfterGap || time > span.end;
  const distance = Math.max(span.start - time, time - span.end);
  if (isCut && distance > 2 * (end - start) / PIXELS) {
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

/** Formats a time in the zone in which the browser is now, and tells if it is of yesterday. */
function formatTime(time, now = time) {
  const [day, today] = [time, now].map((date) => new Date(date).toDateString());
  const text = new Intl.DateTimeFormat([], { timeStyle: "short" }).format(time);
  return day === today || time > now ? text : `${text} yesterday`;
}

/** Formats a time as briefly as the language permits: "6 PM", "18" or, with minutes, "6:30". */
function formatBriefly(time, isHour) {
  const minute = isHour ? undefined : "2-digit";
  const left = isHour ? "literal" : "dayPeriod";
  return new Intl.DateTimeFormat([], { hour: "numeric", minute })
    .formatToParts(time).filter(({ type }) => type !== left)
    .map(({ value }) => value).join(isHour ? " " : "").trim();
}
