import { type Fault, FAULTS, MAX_NAME_CHARACTERS } from "./line_rules.ts";
import { MAX_DEPTH } from "./walk.js";

/** A line that is a reading. */
export interface ValidLine {
  /** The JSON text to serve. */
  readonly json: string;
  /** The name of the sensor, with `--key`. */
  readonly name?: string;
}

/** Parses a line, which is not blank. */
export type LineParser = (line: Uint8Array) => ValidLine | Fault;

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
  // With keys, a piece of a longer text is dropped by itself, unless it has a name
  if (keys) return (line) => parseJson(line, keys);
  let mayContinue = false; // whether the previous line may be the start of a longer text
  return (line) => {
    // A piece is no reading, even if it is valid JSON, such as 2. Pretty-printers indent it
    const isPiece = mayContinue && isIndented(line);
    mayContinue = isOpen(line);
    return isPiece ? FAULTS.notJson : parseJson(line);
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
): ValidLine | Fault {
  let json: string;
  let value;
  try {
    json = STRICT_UTF8.decode(line);
    value = JSON.parse(json);
  } catch {
    return FAULTS.notJson;
  }
  if (isNull(value, keys)) return FAULTS.null;
  if (!keys) return { json };
  if (typeof value !== "object" || Array.isArray(value)) {
    return FAULTS.noName;
  }
  const values = keys.map((key) => value[key]);
  if (values.some(isUnsafe)) return FAULTS.unsafeName;
  const name = formatName(values);
  if (name === "") return FAULTS.noName;
  if (name === "." || name === "..") return FAULTS.dotName;
  return name.length > MAX_NAME_CHARACTERS ? FAULTS.longName : { json, name };
}

/**
 * Whether a value is null, or all its members are, apart from some keys: what a program prints
 * that cannot read its sensor, with NaN as null.
 */
function isNull(
  value: unknown,
  keys: readonly string[] = [],
  depth = 0,
): boolean {
  if (value === null || typeof value !== "object") return value === null;
  const members = Array.isArray(value)
    ? value // entries() would copy a large array
    : Object.entries(value).filter(([key]) => !keys.includes(key))
      .map(([, member]) => member);
  return members.length > 0 && depth < MAX_DEPTH &&
    members.every((member) => isNull(member, [], depth + 1));
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
  const escaped = texts.map((text) =>
    text.replace(/[%/]/g, encodeURIComponent)
  );
  return escaped.join("/").replace(/\/+$/, "");
}
