// Declares types for the assertions of npm's deno-std that the tests use.

import * as std from "deno-std/assert/mod.js";

export const assert: (expr: unknown, msg?: string) => asserts expr = std.assert;

type AssertEquality = <T>(actual: T, expected: T, msg?: string) => void;

export const assertEquals: AssertEquality = std.assertEquals;

export const assertNotEquals: AssertEquality = std.assertNotEquals;

export const assertMatch: (
  actual: string,
  expected: RegExp,
  msg?: string,
) => void = std.assertMatch;

export const assertThrows: <E extends Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any -- any arguments, as in @std/assert
  ErrorClass: abstract new (...args: any[]) => E,
  msgIncludes?: string,
) => E = std.assertThrows;
