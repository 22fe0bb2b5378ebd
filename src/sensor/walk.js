// What is in a reading, for the service and for the page, which is served as plain JavaScript.

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
