/** Caches the last result of a function: most requests repeat the previous one. */
export function memoizeLast<T, R>(compute: (input: T) => R): (input: T) => R {
  let last: { input: T; result: R } | undefined;
  return (input) => {
    if (!last || input !== last.input) last = { input, result: compute(input) };
    return last.result;
  };
}
