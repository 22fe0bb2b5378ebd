// Values, as the page shows them. Nothing here needs a browser.

import { DIRECTION, nameSeries } from "../sensor/series.js";
import { DECIMAL, toWellFormed, walk } from "../sensor/walk.js";

export const MAX_VALUES = 2000; // that are shown
const MAX_AGE_SECONDS = 1000 * 86_400;
const MAX_READ_CHARACTERS = 100; // of a name that tells a unit: no pattern takes long

/** @typedef {"number" | "boolean" | "direction"} Kind */
/** @typedef {ReturnType<typeof parseSensors>[number]} Sensor */

/**
 * Parses the known sensors, of which a proxy may have made anything: of each its name,
 * empty if it is an only one, the time of its last reading, its age in seconds, and that
 * reading: `last`, if it is silent.
 */
export function parseSensors(/** @type {string} */ json) {
  return /** @type {any[]} */ (JSON.parse(json)).map((it) => ({
    name: toWellFormed(`${it.name ?? ""}`),
    time: typeof it.time === "string" ? it.time : "",
    age: typeof it.age === "number" && it.age >= 0 && it.age <= MAX_AGE_SECONDS
      ? it.age
      : NaN,
    reading: it.reading ?? undefined,
    last: it.last ?? undefined,
  }));
}

/**
 * Lists the values of a sensor by id, in the order of its reading, or of its last one, of which
 * each is a `last`. A text that the sensor's name has is left out.
 */
export function listValues(/** @type {Partial<Sensor>} */ sensor) {
  const { name, reading, last } = sensor;
  const values = new Map(); // of those with the same id, the last counts
  for (const { key, path, value } of walk(reading ?? last)) {
    if (isRepeated(value, name ?? "")) continue;
    if (values.size > MAX_VALUES) break; // one more shows that there are more
    const id = nameSeries(name ?? "", key);
    const parts = readName(path.join(" › "), key);
    if (typeof value === "boolean") parts.kind = "boolean";
    const state = reading === undefined ? { last: value } : { value };
    values.set(id, { id, ...parts, ...state });
  }
  return values;
}

/** Returns the number that is drawn of a value, 0 or 1 of a boolean, NaN if there is none. */
export const toNumber = (/** @type {unknown} */ value) =>
  typeof value === "string" ? NaN : Number(value);

/** Tells what a value is now, or in one word why that is not known. */
export function tellNow({ value, unit, decimals }, isSilent, failure) {
  if (failure) return { word: "unknown" };
  if (value !== undefined) return { text: formatValue(value, decimals), unit };
  return { word: isSilent ? "silent" : "missing" };
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
  /._(hPa|kPa|Pa|mbar|mV|mA|kWh|kW|Wh|VA|lux|ppm|percent|mm_h|mm|cm|m_s|km_h|km|mph|m|deg|dBm|[kM]?Hz|L|ohm|m_s2|w_m2|ug_m3|m3)$/,
  /temp(?:[eé]rat\p{L}{0,20})?(?:_?\d+)?_([CF])$/u,
  /(?:^|\P{L})(?:temp|dew|(?:wind)?chill|heat|feels|setpoint|target|current)[\p{L}\p{M}]*(?:_\p{L}+)?(?:_?\d+)?_([CF])$/u,
  /(?:^|\P{L})t(?:_?\d+)?_([CF])$/u,
  /(?:volt\p{L}{0,20}|battery|supply)(?:_?\d+)?_(V)$/u,
  /current(?:_?\d+)?_(A)$/,
  /power(?:_?\d+)?_(W)$/,
];
const SIGNS = { C: "°C", F: "°F", percent: "%", deg: "°", ohm: "Ω", m3: "m³" };
Object.assign(SIGNS, { ug_m3: "µg/m³", m_s2: "m/s²", w_m2: "W/m²" });

/** Returns the name of a value without its unit, the unit, and the kind that its key tells. */
function readName(name, key = name) {
  const parts = { name, unit: "", kind: /** @type {Kind} */ ("number") };
  if (name.length > MAX_READ_CHARACTERS) return parts;
  const isDirection = DIRECTION.test(key);
  if (isDirection) parts.kind = "direction";
  const word = name.replace(/^.+(?=_)/s, (start) => start.toLowerCase());
  const unit = UNITS.map((unit) => word.match(unit)?.[1]).find(Boolean) ?? "";
  if (unit) parts.name = name.slice(0, -unit.length - 1);
  parts.name = parts.name.replace(/_/g, " ");
  const isRelative = /^(?!.*absolute).*(?:humidity|moisture)$/is.test(name);
  const sign = SIGNS[unit] ?? unit.replace("_", "/");
  parts.unit = isRelative ? "%" : isDirection ? "°" : sign;
  return parts;
}

/** Formats a number: nine significant digits, a whole integer part, some decimals at least. */
export const formatNumber = (/** @type {number} */ number, decimals = 0) =>
  formatDigits(number, decimals).replace(/-/g, "\u2212"); // a minus sign

function formatDigits(number, decimals = 0) {
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
export const countDecimals = (/** @type {number} */ number) =>
  formatDigits(number).match(/\.(\d+)$/)?.[1]?.length ?? 0;

/** Formats a value. A number in quotes keeps them: it is not drawn. */
export function formatValue(/** @type {unknown} */ value, decimals = 0) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Number.isFinite(value)) return formatNumber(Number(value), decimals);
  const isQuoted = typeof value === "string" && DECIMAL.test(value);
  return shorten(isQuoted ? JSON.stringify(value) : `${value}`);
}

/** Joins a number and its unit, which stay together. */
export const joinUnit = (/** @type {string} */ text, unit) =>
  unit && unit !== "°" ? `${text}\u00a0${unit}` : text + unit;

/** Shortens a text that would fill the page. */
export const shorten = (/** @type {string} */ text) =>
  text.replace(/^(.{200}).+/s, "$1…");
