// What is in a reading, for the service and for the page, which is served as plain JavaScript.

const MAX_DEPTH = 10; // of objects and arrays in each other
const MAX_KEY_CHARACTERS = 400; // of an object or an array whose members are listed

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. It can match a digit in one
 * way only: with `\d+\.?\d*`, a line of digits that ends with a letter would take seconds.
 */
export const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/**
 * A value in a reading. Its key is its path, joined by dots, such as `kitchen.t` or `0`, which
 * may be long; a value that is the whole reading has none.
 *
 * @typedef {{ key?: string, path: string[], value: unknown }} Value
 */

/**
 * Yields the values in a reading, `…` for what is too deep, and nothing for null. A reading that
 * is a decimal text is a number: without `--json`, all are texts.
 *
 * @param {unknown} reading
 * @returns {Generator<Value>}
 */
export function* walk(reading) {
  const isDecimal = typeof reading === "string" && DECIMAL.test(reading);
  yield* walkValue(isDecimal ? Number(reading) : reading, undefined, []);
}

/**
 * @param {unknown} value
 * @param {string | undefined} key
 * @param {string[]} path
 * @returns {Generator<Value>}
 */
function* walkValue(value, key, path) {
  if (value === null || value === undefined) return;
  if (typeof value !== "object") return yield { key, path, value };
  const isTooLong = key !== undefined && key.length > MAX_KEY_CHARACTERS;
  if (path.length === MAX_DEPTH || isTooLong) {
    return yield { key, path, value: "…" };
  }
  const members = /** @type {Record<string, unknown>} */ (value);
  for (const member of Object.keys(members)) { // entries() would copy a large array
    const name = toWellFormed(member);
    const inner = key === undefined ? name : `${key}.${name}`;
    yield* walkValue(members[member], inner, [...path, name]);
  }
}

// What a label escapes: what would split it, and a `%` that would seem to be such an escape.
// The name of a sensor ends with the first `: `
const SPLITS_KEY = /[\t\n\r;]|%(?=09|0A|0D|3B|25)/g;
const SPLITS_NAME = /[\t\n\r;]|:(?= )|%(?=09|0A|0D|3B|3A |25)/g;

/**
 * Returns the label of a number, which the names of its columns in the history end with. The
 * labels of two numbers differ, and spreadsheets split none, whatever their separator is: one
 * that splits at semicolons takes no quotes within a cell, and so splits at line breaks, too.
 *
 * @param {string | undefined} sensor The name of the sensor, if there are several.
 * @param {string | undefined} key
 */
export function formatLabel(sensor, key) {
  if (key === undefined) return "";
  const escapedKey = escape(key, SPLITS_KEY);
  return sensor
    ? ` ${escape(sensor, SPLITS_NAME)}: ${escapedKey}`
    : ` ${escapedKey}`;
}

/**
 * @param {string} text
 * @param {RegExp} characters
 */
function escape(text, characters) {
  return toWellFormed(text).replace(characters, (it) => {
    const hex = it.charCodeAt(0).toString(16).toUpperCase();
    return `%${hex.padStart(2, "0")}`;
  });
}

/**
 * Replaces what is not Unicode, as the method does that browsers of 2021 lack.
 *
 * @param {string} text
 */
function toWellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
