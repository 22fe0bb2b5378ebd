import { PROGRAM_VERSION } from "../config.ts";
import type { Measurement } from "../sensor/reading.ts";
import { memoizeLast } from "./memoize_last.ts";

/** The media type of Prometheus's text format. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const MAX_ACCEPT_CHARACTERS = 1000; // the rest of a longer field does not count

// Each matches a media range
const OPENMETRICS = /^\s*application\/openmetrics-text\s*(;|$)/i;
const VERSIONED_TEXT = /^\s*text\/plain\s*;(.*;)?\s*version\s*=/i;

const MAX_DEPTH = 10; // of objects and arrays in each other
// Of all samples: ordinary lines of 64 KiB take less, hostile ones would take megabytes
const MAX_CHARACTERS = 512 * 1024;

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. No two parts can match the
 * same digits: trying all divisions of a line of digits would take seconds.
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
  let numbers = "";
  let times = "";
  // Without --key, there is one sensor, which needs no label
  const sensors = measurement.sensors ??
    new Map<undefined, Measurement>([[undefined, measurement]]);
  for (const [sensor, { json, time }] of sensors) {
    const label = formatLabel("sensor", sensor);
    const metric = "datasensor_reading_timestamp_seconds";
    const timestamp = formatSample(metric, label, time / 1000);
    const used = numbers.length + times.length + timestamp.length;
    const { text, isAll } = formatNumbers(json, label, MAX_CHARACTERS - used);
    // One of several sensors is left out whole: without some of its numbers, it would seem
    // to have failed in part. Of an only sensor, the first numbers are better than none
    if (sensor !== undefined && !isAll) continue;
    numbers += text;
    times += timestamp;
  }
  return `# HELP datasensor_reading A number in the last reading.
# TYPE datasensor_reading gauge
${numbers}\
# HELP datasensor_reading_timestamp_seconds When the last reading arrived, in s since 1970.
# TYPE datasensor_reading_timestamp_seconds gauge
${times}\
# HELP datasensor_build_info The version of the program.
# TYPE datasensor_build_info gauge
datasensor_build_info{version="${PROGRAM_VERSION}"} 1
`;
}

/** Formats the numbers of a reading, the first ones if there is no room for all. */
function formatNumbers(
  json: string,
  sensorLabel: string,
  room: number,
): { text: string; isAll: boolean } {
  const samples = new Map<string | undefined, string>(); // by key
  for (const [key, number] of listNumbers(parseReading(json))) {
    const labels = [sensorLabel, formatLabel("key", key)].filter(Boolean)
      .join(",");
    const sample = formatSample("datasensor_reading", labels, number);
    room -= sample.length;
    if (room < 0) break;
    samples.set(key, sample);
  }
  return { text: [...samples.values()].join(""), isAll: room >= 0 };
}

/** Formats a sample, whose labels may be empty. */
function formatSample(metric: string, labels: string, value: number): string {
  return `${metric}${labels && `{${labels}}`} ${value}\n`;
}

/** Formats a label, if it has a value. */
function formatLabel(name: string, value: string | undefined): string {
  if (value === undefined) return "";
  const escaped = value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
  return `${name}="${escaped}"`;
}

/** Parses a reading. A string that is a number counts: without `--json`, all are strings. */
function parseReading(json: string): unknown {
  const value = JSON.parse(json);
  return typeof value === "string" && DECIMAL.test(value)
    ? Number(value)
    : value;
}

/** Yields the numbers in a value, booleans as 0 and 1, with their keys. */
function* listNumbers(
  value: unknown,
  key?: string,
  depth = 0,
): Generator<[key: string | undefined, number: number]> {
  if (typeof value === "number" || typeof value === "boolean") {
    const number = Number(value); // JSON permits some that are infinite, like 1e999
    // What is not Unicode would be replaced later, and make some keys the same
    if (Number.isFinite(number)) yield [key?.toWellFormed(), number];
  } else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
    for (const [name, inner] of Object.entries(value)) {
      const path = key === undefined ? name : `${key}.${name}`;
      yield* listNumbers(inner, path, depth + 1);
    }
  }
}
