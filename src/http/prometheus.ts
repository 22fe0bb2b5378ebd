import { PROGRAM_VERSION } from "../config.ts";
import { ONLY_SENSOR, type Snapshot } from "../sensor/reading.ts";

/** The media type of Prometheus's text format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NUMBER = "datasensor_reading";
const TIMESTAMP = "datasensor_reading_timestamp_seconds";
const UP = "datasensor_up";
const MAX_DEPTH = 10; // of objects and arrays in each other
// Of all samples: ordinary lines of 64 KiB take less, hostile ones would take megabytes
const MAX_CHARACTERS = 512 * 1024;

/**
 * A decimal number, such as `21.5`, `-3` or `1e3`, between spaces. It can match a digit in one
 * way only: with `\d+\.?\d*`, a line of digits that ends with a letter would take seconds.
 */
const DECIMAL = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*$/i;

/**
 * Formats what is known of the sensors in Prometheus's text format: the numbers in their
 * readings, when these arrived and, with `--key`, which sensors are silent; and the version of
 * the program. The key of a number in an object or an array is its path, such as `kitchen.t`
 * or `0`. If several numbers of a sensor have the same key, the last counts, as in
 * `JSON.parse()`. Without room for all sensors, those that have been silent longest are left
 * out first.
 */
export function formatMetrics(snapshot: Snapshot): string {
  let numbers = "";
  let times = "";
  let ups = "";
  let room = MAX_CHARACTERS;
  for (const { name, time, json } of listSensors(snapshot)) {
    const isOnly = name === ONLY_SENSOR;
    const label = isOnly ? "" : formatLabel("sensor", name);
    const timestamp = formatSample(TIMESTAMP, label, time / 1000);
    const isCurrent = json === undefined ? 0 : 1;
    const up = isOnly ? "" : formatSample(UP, label, isCurrent);
    const ownLength = timestamp.length + up.length;
    const { text, isAll } = formatNumbers(json, label, room - ownLength);
    // One of several sensors is left out whole: without some of its numbers, it would seem
    // to have failed in part. Of an only sensor, the first numbers are better than none
    if (!isAll && !isOnly) continue;
    numbers += text;
    times += timestamp;
    ups += up;
    room -= text.length + ownLength;
  }
  return formatFamily(NUMBER, "A number in the last reading.", numbers) +
    formatFamily(
      TIMESTAMP,
      "When the last reading arrived, in s since 1970.",
      times,
    ) +
    (ups && formatFamily(UP, "Whether the last reading is current.", ups)) +
    formatFamily(
      "datasensor_build_info",
      "The version of the program.",
      `datasensor_build_info{version="${PROGRAM_VERSION}"} 1\n`,
    );
}

/** Yields the current sensors, and then the silent ones, which have no JSON text. */
function* listSensors({ current, silent }: Snapshot) {
  for (const [name, { json, time }] of current) yield { name, time, json };
  for (const [name, time] of silent) yield { name, time };
}

/** Formats samples of a metric, which is a gauge, below its description. */
function formatFamily(metric: string, help: string, samples: string): string {
  return `# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n${samples}`;
}

/** Formats the numbers of a reading, if any, the first ones if there is no room for all. */
function formatNumbers(
  json: string | undefined,
  sensorLabel: string,
  room: number,
): { text: string; isAll: boolean } {
  const samples = new Map<string | undefined, string>(); // by key
  const value = json === undefined ? null : parseReading(json);
  for (const [key, number] of listNumbers(value)) {
    const keyLabel = key === undefined ? "" : formatLabel("key", key);
    const labels = [sensorLabel, keyLabel].filter(Boolean).join(",");
    const sample = formatSample(NUMBER, labels, number);
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

function formatLabel(name: string, value: string): string {
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
