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

/** The kinds of invalid lines. */
export const INVALID = {
  tooLong: {
    problem: `Dropping lines longer than ${MAX_LINE_BYTES} bytes`,
    remedy: "Print shorter lines, each with a line feed at its end",
  },
  unfinished: {
    problem: "Dropping lines without a line feed",
    remedy: END_REMEDY,
  },
  paused: {
    problem: "Dropping lines that pause before they end",
    remedy: END_REMEDY,
  },
  notJson: {
    problem: "Dropping lines that are not JSON",
    remedy:
      "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text",
  },
  null: {
    problem: "Dropping lines that are null",
    remedy: "Print nothing while there is no value",
  },
  noName: {
    problem: "Dropping lines without a key that --key names",
    remedy:
      "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false. Or omit --key if there is only one sensor",
  },
  unsafeName: {
    problem:
      `Dropping lines with a number above ${Number.MAX_SAFE_INTEGER} in their name`,
    remedy: "Print ids as strings, since such numbers are rounded",
  },
  longName: {
    problem:
      `Dropping lines with a name of over ${MAX_NAME_CHARACTERS} characters`,
    remedy: "Choose keys with shorter values for --key",
  },
  dotName: {
    problem: 'Dropping lines whose name is "." or ".."',
    remedy:
      "Choose keys with other values for --key: clients take these for parts of a path",
  },
};
