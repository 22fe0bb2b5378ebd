/** A line that is a reading. */
export interface ValidLine {
  /** The JSON text to serve. */
  readonly json: string;
  /** The name of the sensor, with `--key`. */
  readonly name?: string;
}

/** Why a line is no reading, and what to do about it. */
export interface InvalidLine {
  readonly problem: string;
  readonly remedy?: string;
}

/** Parses a line, which is not blank. */
export type LineParser = (line: Uint8Array) => ValidLine | InvalidLine;

const NOT_JSON = {
  problem: "Dropping lines that are not JSON",
  remedy:
    "Print a whole JSON text on each line, numbers with a decimal point, or omit --json to serve any text",
};
const SEVERAL_LINES = {
  problem: "Dropping JSON texts over several lines",
  remedy: "Print each of them on one line, as jq -c --unbuffered does",
};
const NULL = {
  problem: "Dropping lines that are null",
  remedy: "Print nothing while there is no value",
};
const NO_KEY = {
  problem: "Dropping lines without a key that --key names",
  remedy:
    "Print JSON objects with one of these keys, whose value is a string, a number, true or false",
};

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
const STRICT_UTF8 = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Parses a line as any text. */
export function parseText(line: Uint8Array): ValidLine {
  return { json: JSON.stringify(UTF8.decode(line)) };
}

/**
 * Creates a parser of lines that are JSON texts in UTF-8 (RFC 8259, section 8.1). With
 * keys, each is an object, whose values of these keys are the name of its sensor.
 */
export function createJsonParser(keys?: readonly string[]): LineParser {
  // Whether the last line ended within a JSON text: a piece of that, such as 2, is no reading
  let isWithinText = false;
  return (line) => {
    const wasWithinText = isWithinText;
    isWithinText = endsWithinText(line);
    return wasWithinText || isWithinText
      ? SEVERAL_LINES
      : parseJson(line, keys);
  };
}

/** Whether a line is a part of a JSON text, and not words, and the text goes on after it. */
function endsWithinText(line: Uint8Array): boolean {
  const part = UTF8.decode(line).trim();
  return /[[{,:]$/.test(part) &&
    /^([[\]{}",\d-]|(true|false|null)\b)/.test(part);
}

function parseJson(
  line: Uint8Array,
  keys?: readonly string[],
): ValidLine | InvalidLine {
  try {
    const json = STRICT_UTF8.decode(line);
    if (JSON.parse(json) === null) return NULL;
    if (!keys) return { json };
    const name = nameSensor(json, keys);
    return name === undefined ? NO_KEY : { json, name };
  } catch {
    return NOT_JSON;
  }
}

/** Returns the values of those keys that a JSON text has, or undefined if it has none. */
function nameSensor(
  json: string,
  keys: readonly string[],
): string | undefined {
  const object = JSON.parse(quoteLargeIntegers(json));
  if (typeof object !== "object" || Array.isArray(object)) return undefined;
  // What an object inherits, such as its constructor, has another type
  const values = keys.map((key) => object[key])
    .filter((value) => /^(string|number|boolean)$/.test(typeof value));
  return values.length > 0 ? values.join(" ") : undefined;
}

/** Makes strings of integers that JSON.parse() may round, so that ids stay apart. */
function quoteLargeIntegers(json: string): string {
  return json.replace(
    /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi,
    (token) => /^-?\d{16,}$/.test(token) ? `"${token}"` : token,
  );
}
