/** The media type of Prometheus's text format. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const MAX_ACCEPT_CHARACTERS = 1000; // the rest of a longer field does not count

/**
 * Matches a media range that names Prometheus's text format or OpenMetrics. No part of
 * it matches beyond a comma, so that no field takes longer than its length.
 */
const SCRAPER =
  /(?:^|,)\s*(?:application\/openmetrics-text(?![\w.+-])|text\/plain\s*;(?:[^,]*;)?\s*version="?0\.0\.4(?![\w.]))/i;

// Without limits, a line of 64 KiB could become hundreds of megabytes
const MAX_DEPTH = 10; // of objects and arrays in each other
const MAX_KEY_CHARACTERS = 200;
const MAX_NUMBERS = 1000;

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. After a digit, only one
 * part of it can match: with two, a line of digits would take seconds.
 */
const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/**
 * Whether a request asks for Prometheus's text format. Only scrapers name it, or
 * OpenMetrics, and all of them read it: weights do not count (RFC 9110, section 12.5.1).
 */
export function isScrape({ headers }: Request): boolean {
  const accept = headers.get("accept");
  return accept !== null &&
    SCRAPER.test(accept.slice(0, MAX_ACCEPT_CHARACTERS));
}

/**
 * Formats a reading in Prometheus's text format: its numbers and when it arrived. The
 * key of a number in an object or an array is its path, such as `kitchen.t` or `0`. If
 * several have the same key, the last counts, as in `JSON.parse()`.
 *
 * @param json The reading, as JSON text.
 * @param time When it arrived, in ms since 1970.
 */
export function formatMetrics(json: string, time: number): string {
  const samples = new Map<string, number>(); // by their labels
  addNumbers(samples, parseReading(json));
  const lines = Array.from(
    samples,
    ([labels, number]) => `datasensor_reading${labels} ${number}\n`,
  );
  return `# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
${lines.join("")}\
# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
datasensor_reading_timestamp_seconds ${time / 1000}
`;
}

/** Parses a reading. A string that is a number counts: without `--json`, all are strings. */
function parseReading(json: string): unknown {
  const value = JSON.parse(json);
  return typeof value === "string" && DECIMAL.test(value)
    ? Number(value)
    : value;
}

/** Adds the numbers in a value, booleans as 0 and 1. */
function addNumbers(
  samples: Map<string, number>,
  value: unknown,
  key?: string,
  depth = 0,
): void {
  if (typeof value === "number" || typeof value === "boolean") {
    const labels = key === undefined ? "" : `{key="${escapeLabel(key)}"}`;
    const number = Number(value); // JSON permits some that are infinite, like 1e999
    if (Number.isFinite(number)) samples.set(labels, number);
  } else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
    const entries = Array.isArray(value)
      ? value.entries()
      : Object.entries(value);
    for (const [name, inner] of entries) {
      if (samples.size === MAX_NUMBERS) return;
      const path = key === undefined ? `${name}` : `${key}.${name}`;
      if (path.length > MAX_KEY_CHARACTERS) continue;
      addNumbers(samples, inner, path, depth + 1);
    }
  }
}

/** Escapes the value of a label. What is not Unicode would be replaced later anyway. */
function escapeLabel(text: string): string {
  return text.toWellFormed()
    .replace(/[\\"]/g, "\\$&")
    .replaceAll("\n", "\\n");
}
