// What is in a reading, and what its numbers are called in the history, for the service and for
// the page, which is served as plain JavaScript.

export const MAX_DEPTH = 10; // of objects and arrays in each other
const MAX_KEY_CHARACTERS = 400; // of an object or an array whose members are listed

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. It can match a digit in one
 * way only: with `\d+\.?\d*`, a line of digits that ends with a letter would take seconds.
 */
export const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/** @typedef {{ key?: string, path: string[], value: unknown }} Value */

/**
 * Yields the values in a reading with their paths, which joined by dots are their keys, such as
 * `kitchen.t` or `0`: none for a reading that is a single value. Yields `…` for what is too
 * deep, and nothing for null. A decimal text that is the reading is a number: without `--json`,
 * all readings are texts.
 *
 * @returns {Generator<Value>}
 */
export function* walk(/** @type {unknown} */ reading) {
  const isDecimal = typeof reading === "string" && DECIMAL.test(reading);
  yield* walkValue(isDecimal ? Number(reading) : reading);
}

/** @returns {Generator<Value>} */
function* walkValue(value, key, path = []) {
  if (value === null || value === undefined) return;
  if (typeof value !== "object") return yield { key, path, value };
  const isDeep = path.length === MAX_DEPTH || key?.length > MAX_KEY_CHARACTERS;
  if (isDeep) return yield { key, path, value: "…" };
  for (const member of Object.keys(value)) { // entries() would copy a large array
    const name = toWellFormed(member);
    const inner = key === undefined ? name : `${key}.${name}`;
    yield* walkValue(value[member], inner, [...path, name]);
  }
}

/** Replaces what is not Unicode, as the method does that browsers of 2021 lack. */
export const toWellFormed = (/** @type {string} */ text) =>
  text.replace(/\p{Surrogate}/gu, "\ufffd");

// What a label escapes: what would split it, and a `%` that would seem to be such an escape.
// The name of a sensor ends with the first `: `
const SPLITS_KEY = /[\t\n\r;]|%(?=09|0A|0D|3B|25)/g;
const SPLITS_NAME = /[\t\n\r;]|:(?= )|%(?=09|0A|0D|3B|3A |25)/g;

/**
 * Returns the label of a number, with which the names of its columns in the history end. The
 * labels of two numbers differ, and spreadsheets split none: one that splits at semicolons
 * takes no quotes within a cell, and so splits at line breaks, too.
 *
 * @param {string | undefined} name The name of the sensor, if there are several.
 * @param {string | undefined} key
 */
export function formatLabel(name, key) {
  if (key === undefined) return "";
  const end = ` ${escape(key, SPLITS_KEY)}`;
  return name ? ` ${escape(name, SPLITS_NAME)}:${end}` : end;
}

/**
 * What the label of a direction in degrees ends with: `wind_dir_deg`, or `winddir`, `wind.bearing`
 * or `maxGustAngle` of stations, but not `unwind_angle`. `+` instead of a limit would be slow.
 */
export const DIRECTION =
  /_(?:[Dd]eg|DEG)$|(?:(?:^|[^A-Za-z])(?:[Ww]ind|WIND|[Gg]ust|GUST)|[a-z](?:Wind|Gust))[._ ]?(?:(?:[Gg]ust|GUST|[Ff]rom)[._ ]?)?(?:(?:[Dd]ir(?:ection)?|DIR(?:ECTION)?|[Bb]earing|[Aa]ngle)(?:[Dd]egrees|\d{1,3}m|_\w{1,60})?|[Dd]eg(?:rees?)?)$/;

/** Returns the same direction in the turn that begins at another one, in degrees. */
export const toTurn = (/** @type {number} */ direction, start) =>
  direction - 360 * Math.floor((direction - start) / 360);

const escape = (text, characters) =>
  text.replace(characters, encodeURIComponent);
