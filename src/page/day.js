// The last day of a number, and its graph. Times are those of the board's clock, in ms. What
// is drawn is a list of spans, `{ start, end, low, mean, high, pen }`: slots of the history, and
// points that the page has seen. The pen is "M" after a gap, and otherwise "L".

import { countDecimals, formatNumber } from "./values.js";

const SLOT_MS = 5 * 60_000;
const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 10 * 60_000; // for points: slots cover them before
const PIXELS = 600; // in the width of a graph
const MAX_TIMES = 4; // below it
const STEPS_MINUTES = [1, 2, 5, 10, 30, 60, 120, 360];
const CLOCK = new Intl.DateTimeFormat([], { timeStyle: "short" });

/** Parses the history: the day of each number by its label, and when the last slot ended. */
export function parseHistory(csv) {
  const [header = [], ...rows] = parseCsv(csv);
  const days = new Map();
  const ends = rows.map(([time]) => Date.parse(time));
  for (let column = 1; column < header.length; column += 3) {
    const spans = [];
    let decimals = 0;
    rows.forEach((row, index) => {
      const [low, mean, high] = row.slice(column, column + 3).map(Number);
      if (!row[column]) return;
      const [start, end] = [ends[index] - SLOT_MS, ends[index]];
      const pen = rows[index - 1]?.[column] ? "L" : "M";
      spans.push({ start, end, low, mean, high, pen });
      decimals = Math.max(decimals, countDecimals(low), countDecimals(high));
    });
    days.set(header[column].slice("min".length), { spans, decimals });
  }
  return { days, end: ends[ends.length - 1] ?? -Infinity };
}

/** Parses CSV (RFC 4180) in which each line has its end. */
function parseCsv(csv) {
  const rows = [[]];
  const cells = csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g);
  for (const [, quoted, plain, end] of cells) {
    rows[rows.length - 1].push(quoted?.replace(/""/g, '"') ?? plain);
    if (end !== ",") rows.push([]);
  }
  return rows.slice(0, -1);
}

/** Adds a point to those of a number, or a gap, and drops those that slots cover by now. */
export function addPoint(before, number, now) {
  const { points = [], pen = "L", decimals = 0 } = before ?? {};
  if (points.some(({ end }) => end === now)) return { points, pen, decimals };
  const kept = points.filter(({ end }) => end < now && end > now - KEPT_MS);
  if (!Number.isFinite(number)) return { points: kept, pen: "M", decimals };
  const [low, mean, high] = [number, number, number];
  kept.push({ start: now, end: now, low, mean, high, pen });
  const count = Math.max(decimals, countDecimals(number));
  return { points: kept, pen: "L", decimals: count };
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
 * Returns the graph of a day and of points as HTML, in which nothing is a text of the board, and
 * its range as text, if there is any. The graph before stays until it moves by a pixel.
 */
export function updateGraph(day, points, now, slotsEnd, decimals) {
  const spans = [...day.spans, ...points.filter(({ end }) => end > slotsEnd)]
    .filter(({ start }) => start > now - DAY_MS);
  if (spans.length === 0) return {};
  const hours = Math.ceil((now - spans[0].start) / HOUR_MS) || 1;
  const pixel = hours * HOUR_MS / PIXELS;
  const end = Math.ceil(now / pixel) * pixel;
  const { graph } = day;
  const { low, high } = spans[spans.length - 1];
  const isSame = graph?.end === end && graph.decimals === decimals &&
    low >= graph.lowest.low && high <= graph.highest.high;
  if (!isSame) day.graph = createGraph(spans, end, slotsEnd, decimals);
  return day.graph;
}

function createGraph(spans, end, slotsEnd, decimals) {
  const start = Math.max(end - DAY_MS, Math.min(end - SLOT_MS, spans[0].start));
  const lowest = spans.reduce((a, b) => b.low < a.low ? b : a);
  const highest = spans.reduce((a, b) => b.high > a.high ? b : a);
  const low = formatNumber(lowest.low, decimals);
  const high = formatNumber(highest.high, decimals);
  const isFlat = low === high;
  const toX = (time) => Math.round(PIXELS * (time - start) / (end - start));
  const toY = (number) => {
    // Of halves, since the difference of the numbers may be infinite
    const [half, from, to] = [number / 2, lowest.low / 2, highest.high / 2];
    return isFlat ? 50 : Math.round(95 - 90 * (half - from) / (to - from));
  };
  const times = listTimes(start, end);
  const grid = times.map((time) => `M${toX(time)},0V100`).join("");
  const labels = times.map((time) =>
    `<time style="left:${toX(time) / PIXELS * 100}%">${
      CLOCK.format(time)
    }</time>`
  ).join("");
  const html = `<svg viewBox="0 0 ${PIXELS} 100" preserveAspectRatio="none"
    fill="none" aria-hidden="true"><path stroke="#8886" d="${grid}"/>
    ${drawPaths(spans, slotsEnd, toX, toY)}</svg>
    <p aria-hidden="true">${labels}</p>`;
  const at = ({ end }) => `at ${CLOCK.format(end)}`;
  const range = isFlat
    ? "no change"
    : `low ${low} ${at(lowest)}, high ${high} ${at(highest)}`;
  return { end, decimals, lowest, highest, html, range };
}

/** Draws a band from low to high, and a line. A point continues it if no slot is missing. */
function drawPaths(spans, slotsEnd, toX, toY) {
  let [line, band, before] = ["", "", {}];
  for (const { start, end, low, mean, high, pen } of spans) {
    const isGap = pen === "M" || before.end < slotsEnd && start > slotsEnd;
    const [left, x, right] = [start, (start + end) / 2, end].map(toX);
    if (!isGap && x === before.x) continue;
    line += `${isGap || !line ? "M" : "L"}${x},${toY(mean)}h0`;
    band += `M${left},${toY(low)}H${right}V${toY(high)}H${left}Z`;
    before = { end, x };
  }
  return `<path fill="#2f80ed66" d="${band}"/>
    <path stroke="#2f80ed" stroke-width="2" stroke-linecap="round" d="${line}"/>`;
}

/** Lists round local times between two times, but not close to them. */
function listTimes(start, end) {
  const span = end - start;
  const step = STEPS_MINUTES.find((step) => span / step <= MAX_TIMES * 60_000);
  const date = new Date(start);
  const minutes = date.getHours() * 60 + date.getMinutes();
  const times = [];
  // The calendar knows when clocks are changed
  date.setHours(0, Math.floor(minutes / step) * step, 0, 0);
  for (; date < end - span / 9; date.setMinutes(date.getMinutes() + step)) {
    if (date > start + span / 9) times.push(+date);
  }
  return times;
}
