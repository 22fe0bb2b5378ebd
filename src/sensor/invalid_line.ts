/** Why a line is no reading, and what to do about it. */
export interface InvalidLine {
  readonly problem: string;
  readonly remedy: string;
}

export const MAX_LINE_BYTES = 64 * 1024; // without the end of the line
export const MAX_NAME_CHARACTERS = 200;

// Of lines whose end is missing or late
const END_REMEDY = String
  .raw`If this is a whole reading, print a line feed after it: curl URL && echo, or printf '21.5\n' (in the settings file '21.5\\n'). If not, the program stopped while printing it`;

const invalid = (problem: string, remedy: string): InvalidLine => ({
  problem: `Dropping lines ${problem}`,
  remedy,
});

/** The kinds of invalid lines. */
export const INVALID = {
  tooLong: invalid(
    `longer than ${MAX_LINE_BYTES} bytes`,
    "Print shorter lines, each with a line feed at its end",
  ),
  unfinished: invalid("without a line feed", END_REMEDY),
  paused: invalid("that pause before they end", END_REMEDY),
  notJson: invalid(
    "that are not JSON",
    "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, 0.5 instead of .5 or 00.5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text",
  ),
  null: invalid(
    "that have no value but null",
    "Print nothing while there is no value",
  ),
  noName: invalid(
    "without a key that --key names",
    "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false. Or omit --key if there is only one sensor",
  ),
  unsafeName: invalid(
    `with a number above ${Number.MAX_SAFE_INTEGER} in their name`,
    "Print ids as strings, since such numbers are rounded",
  ),
  longName: invalid(
    `with a name of over ${MAX_NAME_CHARACTERS} characters`,
    "Choose keys with shorter values for --key",
  ),
  dotName: invalid(
    'whose name is "." or ".."',
    "Choose keys with other values for --key: clients take these for parts of a path",
  ),
};
