// A cache of one result: most requests repeat the previous one.

/** Returns a function that computes again only when its input changes. */
export function memoizeLast<T>(compute: (input: T) => string) {
  let last: T | undefined;
  let result = "";
  return (input: T): string => {
    if (input !== last) [last, result] = [input, compute(input)];
    return result;
  };
}
