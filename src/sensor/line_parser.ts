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
  readonly remedy: string;
}

/** Parses a line, which is not blank. */
export type LineParser = (line: Uint8Array) => ValidLine | InvalidLine;

const NOT_JSON = {
  problem: "Dropping lines that are not JSON",
  remedy:
    "Print a whole JSON text on each line, with nothing after it, as Python's json.dumps or jq -c --unbuffered do: 21.5 instead of 21,5, double quotes instead of single ones, nothing instead of nan. Or omit --json to serve any text",
};
const NULL = {
  problem: "Dropping lines that are null",
  remedy: "Print nothing while there is no value",
};
const NO_NAME = {
  problem: "Dropping lines without a key that --key names",
  remedy:
    "Print JSON objects with one of these keys, whose value is a non-empty string, a number, true or false. Or omit --key if there is only one sensor",
};
const UNSAFE_NAME = {
  problem:
    `Dropping lines with a number above ${Number.MAX_SAFE_INTEGER} in their name`,
  remedy: "Print ids as strings, since such numbers are rounded",
};
const MAX_NAME_CHARACTERS = 200;
const LONG_NAME = {
  problem:
    `Dropping lines with a name of over ${MAX_NAME_CHARACTERS} characters`,
  remedy: "Choose keys with shorter values for --key",
};
const DOT_NAME = {
  problem: 'Dropping lines whose name is "." or ".."',
  remedy:
    "Choose keys with other values for --key: clients take these for parts of a path",
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
  // With keys, a piece of a longer text is dropped anyway: it has no name
  if (keys) return (line) => parseJson(line, keys);
  let mayContinue = false; // whether the previous line may be the start of a longer text
  return (line) => {
    // A piece is no reading, even if it is valid JSON, such as 2. Pretty-printers indent it
    const isPiece = mayContinue && isIndented(line);
    mayContinue = isOpen(line);
    return isPiece ? NOT_JSON : parseJson(line);
  };
}

function isIndented([first]: Uint8Array): boolean {
  return first === 0x20 || first === 0x09; // a space or a tab
}

/** Whether a line ends with `[`, `{` or a comma, and perhaps spaces. */
function isOpen(line: Uint8Array): boolean {
  const last = line.findLast((byte) => byte > 0x20)!;
  return "[{,".includes(String.fromCharCode(last));
}

function parseJson(
  line: Uint8Array,
  keys?: readonly string[],
): ValidLine | InvalidLine {
  let json: string;
  let value;
  try {
    json = STRICT_UTF8.decode(line);
    value = JSON.parse(json);
  } catch {
    return NOT_JSON;
  }
  if (value === null) return NULL;
  if (!keys) return { json };
  if (typeof value !== "object" || Array.isArray(value)) return NO_NAME;
  const values = keys.map((key) => value[key]);
  if (values.some(isUnsafe)) return UNSAFE_NAME;
  const name = formatName(values);
  if (name === "") return NO_NAME;
  if (name === "." || name === "..") return DOT_NAME;
  return name.length > MAX_NAME_CHARACTERS ? LONG_NAME : { json, name };
}

/** Whether other integers become the same number in JavaScript. */
function isUnsafe(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Formats a name. Of several values, each has its place: `a/b/c`, `a//c` without the second,
 * and `a` without the last two.
 */
function formatName(values: readonly unknown[]): string {
  const texts = values.map((value) => {
    // What an object inherits, such as its constructor, has another type
    const isName = /^(string|number|boolean)$/.test(typeof value);
    // Names that are not Unicode become the same for Prometheus, and so here, too
    return isName ? `${value}`.toWellFormed() : "";
  });
  if (texts.length === 1) return texts[0]!;
  const escaped = texts.map((it) => it.replace(/[%/]/g, encodeURIComponent));
  return escaped.join("/").replace(/\/+$/, "");
}
