// Values, as the page shows them. Nothing here needs a browser.

import { DECIMAL, DIRECTION, formatLabel } from "../sensor/walk.js";
import { toWellFormed, walk } from "../sensor/walk.js";

export const MAX_VALUES = 2000; // that are shown
const MAX_CLOCK_ERROR_SECONDS = 300;
const MAX_AGE_SECONDS = 1000 * 86_400;
const FRESH_SECONDS = 60; // for which no age is shown
const MAX_READ_CHARACTERS = 100; // of a name that tells a unit: no pattern takes long

/** @typedef {"number" | "boolean" | "direction"} Kind */

/**
 * Parses what is known of each sensor, of which a proxy may have made anything: its name, unless
 * it is an only one, the time of its last reading, its age in seconds, and the reading, unless it
 * is silent.
 */
export function parseSensors(/** @type {string} */ json) {
  return /** @type {any[]} */ (JSON.parse(json)).map((
    { name, time, age, reading },
  ) => ({
    name: name === undefined || name === null
      ? undefined
      : toWellFormed(`${name}`),
    time: typeof time === "string" ? time : "",
    age: typeof age === "number" && age >= 0 && age <= MAX_AGE_SECONDS
      ? age
      : NaN,
    reading: reading ?? undefined,
  }));
}

/**
 * Lists the values of a sensor by label, in the order of its reading, and then those that are only
 * known: the label, name, unit and kind of each, its value if it is there, and its number, or
 * NaN. A text that the sensor's name has is left out.
 *
 * @param {{ name?: string, reading?: unknown }} sensor
 * @param {Map<string, unknown>} known
 */
export function listValues({ name, reading = null }, known) {
  const values = new Map(); // of those with the same label, the last counts
  for (const { key, path, value } of walk(reading)) {
    if (isRepeated(value, name ?? "")) continue;
    if (values.size > MAX_VALUES) break; // one more shows that there are more
    const label = formatLabel(name, key);
    const number = typeof value === "string" ? NaN : Number(value);
    const told = readName(path.join(" › "), key);
    if (typeof value === "boolean") told.kind = "boolean";
    values.set(label, { label, ...told, value, number });
  }
  const start = name === undefined ? "" : formatLabel(name, "");
  for (const label of known.keys()) {
    if (!label.startsWith(start) || values.has(label)) continue;
    const key = label.slice(start.length || 1);
    values.set(label, { label, ...readName(key), number: NaN });
  }
  return values;
}

/** Whether a value is a text that the name of its sensor has, whose parts are escaped. */
function isRepeated(value, name) {
  if (typeof value !== "string" || DECIMAL.test(value)) return false;
  const part = value.replace(/[%/]/g, encodeURIComponent);
  return value === name || name.split("/").includes(part);
}

// Keys that end with a unit. A single letter counts only behind a word that has this unit:
// `aussentemperatur_C`, but not `class_A`
const UNITS = [
  /._(hPa|kPa|Pa|mbar|mV|mA|kWh|kW|Wh|VA|lux|ppm|percent|mm_h|mm|cm|m_s|km_h|km|mph|m|deg|dBm|[kM]?Hz|L|ug_m3)$/,
  /temp(?:[eé]rat\p{L}{0,20})?(?:_?\d+)?_([CF])$/u,
  /(?:^|\P{L})(?:temp|dew|(?:wind)?chill|heat|feels|setpoint)[\p{L}\p{M}]*(?:_\p{L}+)?(?:_?\d+)?_([CF])$/u,
  /(?:^|\P{L})t(?:_?\d+)?_([CF])$/u,
  /(?:volt\p{L}{0,20}|battery|supply)(?:_?\d+)?_(V)$/u,
  /current(?:_?\d+)?_(A)$/,
  /power(?:_?\d+)?_(W)$/,
];
const SYMBOLS = { C: "°C", F: "°F", percent: "%", deg: "°", "ug_m3": "µg/m³" };

/** Returns the name of a value without its unit, the unit, and the kind that its key tells. */
function readName(name, key = name) {
  const told = { name, unit: "", kind: /** @type {Kind} */ ("number") };
  if (name.length > MAX_READ_CHARACTERS) return told;
  if (DIRECTION.test(key)) told.kind = "direction";
  const word = name.replace(/^.+(?=_)/s, (start) => start.toLowerCase());
  const unit = UNITS.map((unit) => word.match(unit)?.[1]).find(Boolean) ?? "";
  if (unit) told.name = name.slice(0, -unit.length - 1);
  told.name = told.name.replace(/_/g, " ");
  const isRelative = /^(?!.*absolute).*(?:humidity|moisture)$/is.test(name);
  told.unit = isRelative ? "%" : SYMBOLS[unit] ?? unit.replace("_", "/");
  return told;
}

/** Formats a number: nine significant digits, a whole integer part, some decimals at least. */
export function formatNumber(/** @type {number} */ number, decimals = 0) {
  const rounded = Number(number.toPrecision(9));
  if (Math.abs(number) >= 1e15) return rounded.toExponential();
  if (Math.abs(number) >= 1e9) return `${Math.round(number)}`;
  const parts = `${rounded}`.match(/^-?0?(\d*)\.?(\d*)$/);
  if (!parts) return `${rounded}`; // with an exponent
  const [, digits, fraction] = parts;
  const count = Math.min(decimals, 9 - digits.length);
  return count > fraction.length ? rounded.toFixed(count) : `${rounded}`;
}

/** Counts the decimals of a number, as it is shown. */
export function countDecimals(/** @type {number} */ number) {
  return formatNumber(number).match(/\.(\d+)$/)?.[1]?.length ?? 0;
}

/** Formats a value. A number in quotes keeps them: it is not drawn. */
export function formatValue(/** @type {unknown} */ value, decimals = 0) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Number.isFinite(value)) return formatNumber(Number(value), decimals);
  const isQuoted = typeof value === "string" && DECIMAL.test(value);
  return shorten(isQuoted ? JSON.stringify(value) : `${value}`);
}

/** Tells the age of a reading, unless it is fresh. */
export function formatAge(/** @type {number} */ seconds) {
  if (seconds < FRESH_SECONDS) return "";
  return seconds > 0
    ? `${formatDuration(seconds, Math.ceil)} old`
    : "age unknown";
}

/** Formats a duration of a minute or more, in the unit that tells most. */
function formatDuration(seconds, round = Math.round) {
  if (seconds < 2 * 3600) return `${round(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${round(seconds / 3600)} h`;
  return `${round(seconds / 86_400)} days`;
}

/** Tells how far the clock of the board is from that of the browser, if that misleads. */
export function describeClock(/** @type {number} */ boardMs, browserMs) {
  const seconds = (boardMs - browserMs) / 1000;
  if (Math.abs(seconds) <= MAX_CLOCK_ERROR_SECONDS) return "";
  const duration = formatDuration(Math.abs(seconds));
  const direction = seconds < 0 ? "behind" : "ahead of";
  return `The board's clock is ${duration} ${direction} this device's`;
}

/** Shortens a text that would fill the page. */
export const shorten = (/** @type {string} */ text) =>
  text.replace(/^(.{200}).+/s, "$1…");
