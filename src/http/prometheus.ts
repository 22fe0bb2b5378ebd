import { PROGRAM_VERSION } from "../config.ts";
import type { Measurement } from "../sensor/reading.ts";
import { memoizeLast } from "./memoize_last.ts";

/** The media type of Prometheus's text format. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const MAX_ACCEPT_CHARACTERS = 1000; // the rest of a longer field does not count

// Each matches a media range
const OPENMETRICS = /^\s*application\/openmetrics-text\s*(;|$)/i;
const VERSIONED_TEXT = /^\s*text\/plain\s*;(.*;)?\s*version\s*=/i;

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
 * Whether a request asks for Prometheus's text format, in any version, or OpenMetrics. Only
 * scrapers do, and all of them read it: weights do not count (RFC 9110, section 12.5.1).
 */
export function isScrape({ headers }: Request): boolean {
  return namesTextFormat(headers.get("accept") ?? "");
}

const namesTextFormat = memoizeLast((accept: string) =>
  accept.slice(0, MAX_ACCEPT_CHARACTERS).split(",").some((range) =>
    OPENMETRICS.test(range) || VERSIONED_TEXT.test(range)
  )
);

/**
 * Formats a reading in Prometheus's text format: its numbers and when it arrived (with
 * `--key`, of each sensor), and the version of the program. The key of a number in an object
 * or an array is its path, such as `kitchen.t` or `0`. If several numbers of a sensor have
 * the same key, the last counts, as in `JSON.parse()`.
 */
export function formatMetrics(measurement: Measurement): string {
  const numbers: Samples = new Map();
  const times: Samples = new Map();
  // The newest first, since MAX_NUMBERS leaves out the last ones. The JSON text of all, once
  // parsed, would begin with the names that are integers
  const sensors = measurement.sensors?.entries() ??
    [[undefined, measurement] as const];
  for (const [sensor, { json, time }] of sensors) {
    addNumbers(numbers, parseReading(json), sensor);
    times.set(formatKey(sensor), time / 1000);
  }
  return `# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
${formatSamples("datasensor_reading", numbers)}\
# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
${formatSamples("datasensor_reading_timestamp_seconds", times)}\
# HELP datasensor_build_info The version of the program.
# TYPE datasensor_build_info gauge
datasensor_build_info{version="${PROGRAM_VERSION}"} 1
`;
}

/** Numbers of a metric, by their labels. */
type Samples = Map<string, number>;

function formatSamples(metric: string, samples: Samples): string {
  return Array.from(
    samples,
    ([labels, number]) => `${metric}${labels} ${number}\n`,
  ).join("");
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
  samples: Samples,
  value: unknown,
  key?: string,
  depth = 0,
): void {
  if (typeof value === "number" || typeof value === "boolean") {
    const number = Number(value); // JSON permits some that are infinite, like 1e999
    if (Number.isFinite(number)) samples.set(formatKey(key), number);
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

/** Formats a key as a label. What is not Unicode would be replaced later anyway. */
function formatKey(key: string | undefined): string {
  if (key === undefined) return "";
  const value = key.toWellFormed()
    .replace(/[\\"]/g, "\\$&")
    .replaceAll("\n", "\\n");
  return `{key="${value}"}`;
}
