// The work that need not be repeated: most requests are like the one before.

/** Returns a function that remembers the result for its last input. */
export function remember<T>(compute: (input: T) => string) {
  let last: T | undefined;
  let result = "";
  return (input: T): string => {
    if (input !== last) [last, result] = [input, compute(input)];
    return result;
  };
}
