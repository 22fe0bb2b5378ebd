/**
 * Wraps a pure function so that it is not computed again for the same text:
 * most requests are like the one before.
 */
export function rememberLast<T>(
  compute: (text: string) => T,
): (text: string) => T {
  let lastText: string | undefined;
  let lastResult: T;
  return (text) => {
    if (text !== lastText) {
      lastResult = compute(text);
      lastText = text;
    }
    return lastResult;
  };
}
