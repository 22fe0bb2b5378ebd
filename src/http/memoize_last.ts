// A cache of one result: most requests repeat the previous one.

/** Returns a function that computes again only when its input changes. */
export function memoizeLast<T, R>(compute: (input: T) => R): (input: T) => R {
  let last: { input: T; result: R } | undefined;
  return (input) => {
    if (!last || input !== last.input) last = { input, result: compute(input) };
    return last.result;
  };
}
