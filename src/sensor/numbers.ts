const MAX_DEPTH = 10; // of objects and arrays in each other

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. It can match a digit in one
 * way only: with `\d+\.?\d*`, a line of digits that ends with a letter would take seconds.
 */
const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

type KeyedNumber = [key: string | undefined, number: number];

/**
 * Yields the numbers in a reading, booleans as 0 and 1, with their keys. The key of a number in
 * an object or an array is its path, such as `kitchen.t` or `0`, which may be long, and not
 * Unicode. Of the same key, the last counts, as in `JSON.parse()`. The page has the same rules.
 */
export function* listNumbers(json: string): Generator<KeyedNumber> {
  const value = JSON.parse(json);
  // A reading that is a string counts: without `--json`, all are strings
  const isDecimal = typeof value === "string" && DECIMAL.test(value);
  yield* listNumbersOf(isDecimal ? Number(value) : value);
}

function* listNumbersOf(
  value: unknown,
  key?: string,
  depth = 0,
): Generator<KeyedNumber> {
  if (typeof value === "number" || typeof value === "boolean") {
    const number = Number(value); // JSON permits some that are infinite, like 1e999
    if (Number.isFinite(number)) yield [key, number];
  } else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
    for (const name of Object.keys(value)) { // entries() would copy a large array
      const path = key === undefined ? name : `${key}.${name}`;
      yield* listNumbersOf(value[name as keyof typeof value], path, depth + 1);
    }
  }
}
