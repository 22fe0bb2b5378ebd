// Stands in for `@std/assert` where jsr.io cannot be reached. It declares what the tests
// use, and leaves the comparisons to Node's assertions, which Deno contains.

import nodeAssert from "node:assert/strict";

/** Asserts that a value is truthy. */
export function assert(expr: unknown, msg?: string): asserts expr {
  nodeAssert.ok(expr, msg);
}

/** Asserts that two values are equal, deeply. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, msg);
}

/** Asserts that a text matches a pattern. */
export function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void {
  nodeAssert.match(actual, expected, msg);
}

/** Asserts that a function throws an error of a class, and returns the error. */
export function assertThrows<E extends Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any -- any arguments, as in @std/assert
  ErrorClass: abstract new (...args: any[]) => E,
): E {
  let thrown: unknown;
  nodeAssert.throws(() => {
    try {
      fn();
    } catch (error) {
      throw thrown = error;
    }
  }, ErrorClass);
  return thrown as E;
}
