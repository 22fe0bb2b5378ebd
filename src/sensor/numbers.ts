import { walk } from "./walk.js";

/**
 * Yields the numbers in a reading, booleans as 0 and 1, with their keys. A key can
 * come twice: the last counts, as in `JSON.parse()`.
 */
export function* listNumbers(
  json: string,
): Generator<[key: string | undefined, number: number]> {
  for (const { key, value } of walk(JSON.parse(json))) {
    if (typeof value !== "number" && typeof value !== "boolean") continue;
    const number = Number(value); // JSON permits some that are infinite, like 1e999
    if (Number.isFinite(number)) yield [key, number];
  }
}
