// A cache of one result: most requests repeat the one before.

/** Returns a function that remembers the result for its last input. */
export function remember<T>(compute: (input: T) => string) {
  let last: T | undefined;
  let result = "";
  return (input: T): string => {
    if (input !== last) [last, result] = [input, compute(input)];
    return result;
  };
}
