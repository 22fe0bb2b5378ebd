export const MAX_LINE_BYTES = 64 * 1024; // without the end of the line
export const MAX_NAME_CHARACTERS = 200;

// Of lines whose end is missing or late
const END_REMEDY = String
  .raw`If this is a whole reading, print a line feed after it: curl URL && echo, or printf '21.5\n' (in the settings file '21.5\\n'). If not, the program stopped while printing it`;

/** Why a line is invalid, and what to do about it. */
export interface Fault {
  readonly problem: string;
  readonly remedy: string;
}

const fault = (problem: string, remedy: string): Fault => ({
  problem: `Dropping lines ${problem}`,
  remedy,
});

/** Each fault that a line can have. */
export const FAULTS = {
  tooLong: fault(
    `longer than ${MAX_LINE_BYTES} bytes`,
    "Print shorter lines, each with a line feed at its end",
  ),
  unfinished: fault("without a line feed", END_REMEDY),
  paused: fault("that pause before they end", END_REMEDY),
  notJson: fault(
    "that are not JSON",
    "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, 0.5 instead of .5 or 00.5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text",
  ),
  null: fault(
    "that have no value but null",
    "Print nothing while there is no value",
  ),
  noName: fault(
    "without a key that --key names",
    "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false. Or omit --key if there is only one sensor",
  ),
  unsafeName: fault(
    `with a number above ${Number.MAX_SAFE_INTEGER} in their name`,
    "Print ids as strings, since such numbers are rounded",
  ),
  longName: fault(
    `with a name of over ${MAX_NAME_CHARACTERS} characters`,
    "Choose keys with shorter values for --key",
  ),
  dotName: fault(
    'whose name is "." or ".."',
    "Choose keys with other values for --key: clients take these for parts of a path",
  ),
};
