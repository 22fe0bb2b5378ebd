import { listNumbers } from "../sensor/numbers.ts";
import {
  listSensors,
  MAX_RESPONSE_CHARACTERS,
  type Snapshot,
} from "../sensor/reading.ts";
import { PROGRAM_VERSION } from "../version.ts";

/** The media type of Prometheus's text format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const NUMBER = "datasensor_reading";
const TIMESTAMP = "datasensor_reading_timestamp_seconds";
const UP = "datasensor_up";

/**
 * Formats the known sensors in Prometheus's text format: the numbers in their readings, when
 * these arrived and, with `--key`, which sensors are silent; and the version of the program.
 * Without room for all sensors, the latest readings have it first.
 */
export function formatMetrics(snapshot: Snapshot): string {
  let numbers = "";
  let times = "";
  let ups = "";
  let room = MAX_RESPONSE_CHARACTERS;
  const { haveNames } = snapshot;
  for (const { name, time, json, isCurrent } of listSensors(snapshot)) {
    const label = haveNames ? formatLabel("sensor", name) : "";
    const timestamp = formatSample(TIMESTAMP, label, time / 1000);
    const up = haveNames ? formatSample(UP, label, isCurrent ? 1 : 0) : "";
    const ownLength = timestamp.length + up.length;
    const list = isCurrent ? listNumbers(json) : [];
    const { text, isAll } = formatNumbers(list, label, room - ownLength);
    // One of several sensors is left out whole: without some of its numbers, it would seem
    // to have failed in part. Of an only sensor, the first numbers are better than none
    if (!isAll && haveNames) continue;
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

/** Formats samples of a metric, which is a gauge, below its description. */
function formatFamily(metric: string, help: string, samples: string): string {
  return `# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n${samples}`;
}

/** Formats the numbers of a reading, the first ones if there is no room for all. */
function formatNumbers(
  numbers: Iterable<[key: string | undefined, number: number]>,
  sensorLabel: string,
  room: number,
): { text: string; isAll: boolean } {
  const samples = new Map<string, string>(); // by label
  for (const [key, number] of numbers) {
    const keyLabel = key === undefined ? "" : formatLabel("key", key);
    const labels = [sensorLabel, keyLabel].filter(Boolean).join(",");
    const sample = formatSample(NUMBER, labels, number);
    room -= sample.length;
    if (room < 0) break;
    samples.set(keyLabel, sample);
  }
  return { text: [...samples.values()].join(""), isAll: room >= 0 };
}

/** Formats a sample, whose labels may be empty. */
function formatSample(metric: string, labels: string, value: number): string {
  return `${metric}${labels && `{${labels}}`} ${value}\n`;
}

function formatLabel(name: string, value: string): string {
  const text = value.replace(/[\\"]/g, "\\$&");
  return `${name}="${text.replaceAll("\n", "\\n")}"`;
}
