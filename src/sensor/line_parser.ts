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
    "Print a whole JSON text on each line: double quotes, not single ones (Python: json.dumps), a decimal point, not a comma, and nothing instead of nan. Or omit --json to serve any text",
};
const SEVERAL_LINES = {
  problem: "Dropping JSON texts over several lines",
  remedy: "Print each of them on one line, as jq -c --unbuffered does",
};
const NULL = {
  problem: "Dropping lines that are null",
  remedy: "Print nothing while there is no value",
};
const NO_NAME = {
  problem: "Dropping lines without a key that --key names",
  remedy:
    "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false",
};
const MAX_NAME_CHARACTERS = 200;
const LONG_NAME = {
  problem:
    `Dropping lines with a name of over ${MAX_NAME_CHARACTERS} characters`,
  remedy: "Choose keys with shorter values for --key",
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
  let wasOpen = false; // whether a JSON text went on after the previous line
  return (line) => {
    const isOpen = leavesTextOpen(line);
    // A piece is no reading, even if it is valid JSON, such as 2
    const isPiece = wasOpen || isOpen;
    wasOpen = isOpen;
    return isPiece ? SEVERAL_LINES : parseJson(line, keys);
  };
}

// A line that ends with one of `[{,:` may be words. It is a piece of a JSON text if it
// consists of tokens (RFC 8259, section 2). `12:30:01:` does not: in JSON, only a string
// precedes a colon. Nor does `2026-11-25,`: a number precedes a space, comma or bracket
const STRING = /"(?:[^"\\]|\\.)*"\s*:?/.source;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/.source;
const VALUE = `(?:${NUMBER}|true|false|null)(?=[\\s,\\]}])`;
const TOKEN = RegExp(`\\s*(?:[[\\]{},]|${STRING}|${VALUE})`, "y");

/** Whether a line is a piece of a JSON text that goes on after it. */
function leavesTextOpen(line: Uint8Array): boolean {
  const part = UTF8.decode(line).trimEnd();
  if (!/[[{,:]$/.test(part)) return false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < part.length) {
    if (!TOKEN.test(part)) return false;
  }
  return true;
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
    if (name === "") return NO_NAME;
    return name.length > MAX_NAME_CHARACTERS ? LONG_NAME : { json, name };
  } catch {
    return NOT_JSON;
  }
}

/**
 * Returns the value of a key, or an empty text. Of several keys, each value has its place:
 * `a/b/c`, `a//c` without the second, and `a` without the last two.
 */
function nameSensor(json: string, keys: readonly string[]): string {
  const object = JSON.parse(quoteLargeIntegers(json));
  if (typeof object !== "object" || Array.isArray(object)) return "";
  const values = keys.map((key) => {
    const value = object[key];
    // What an object inherits, such as its constructor, has another type
    const isName = /^(string|number|boolean)$/.test(typeof value);
    // Names that are not Unicode become the same for Prometheus, and so here, too
    return isName ? `${value}`.toWellFormed() : "";
  });
  if (values.length === 1) return values[0]!;
  const escaped = values.map((it) => it.replace(/[%/]/g, encodeURIComponent));
  return escaped.join("/").replace(/\/+$/, "");
}

/** Makes strings of integers that JSON.parse() may round, so that ids stay apart. */
function quoteLargeIntegers(json: string): string {
  return json.replace(
    /"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*/gi,
    (token) => /^-?\d{16,}$/.test(token) ? `"${token}"` : token,
  );
}
