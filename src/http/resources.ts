import type { History } from "../sensor/history.ts";
import type { LastReadings } from "../sensor/last_readings.ts";
import type { Reading } from "../sensor/reading.ts";
import type { Handler } from "./handler.ts";
import { memoizeLast } from "./memoize_last.ts";
import type { Responses } from "./responses.ts";

/** The path of the reading. */
export const READING_PATH = "/datasensor";

const METRICS_PATH = "/metrics"; // where Prometheus looks
const SENSORS_PATH = "/sensors";
const HISTORY_PATH = "/history";
const PAGE_PATH = "/";
const SENSOR_PREFIX = `${READING_PATH}/`;
const BAD_HOST = "The host of the request is invalid";
const READ_ONLY = "The resource is read-only: use GET, HEAD or OPTIONS";
const UNKNOWN_PATH =
  `The only resource is ${READING_PATH}: ${METRICS_PATH}, ${SENSORS_PATH}, ${HISTORY_PATH} and ${PAGE_PATH} need --stdin`;
const UNKNOWN_PATH_WITH_SENSOR =
  `The resources are ${READING_PATH}, ${METRICS_PATH}, ${SENSORS_PATH}, ${HISTORY_PATH} and ${PAGE_PATH}`;
const UNKNOWN_SENSOR =
  `No sensor of this name has sent a reading since the start, or it was silent for so long that it is forgotten: ${SENSORS_PATH} lists those that are known`;

/** Looks up a resource by its path: returns what answers GET, or the reason for a 404. */
export type Lookup = (path: string) => (() => Response) | string;

/** The last readings of the sensors, and their history. */
export interface Sensors {
  readonly readings: LastReadings;
  readonly history: History;
}

/** Creates the lookup of a service without a sensor, whose only resource is the fixed text. */
export function createTextLookup(text: string, responses: Responses): Lookup {
  const reading: Reading = { json: JSON.stringify(text) };
  const read = () => responses.reading(reading);
  return (path) => path === READING_PATH ? read : UNKNOWN_PATH;
}

/** Creates the lookup of a service with a sensor, or several. */
export function createSensorLookup(
  { readings, history }: Sensors,
  responses: Responses,
): Lookup {
  const unavailable = (name?: string) => () =>
    responses.problem(503, readings.explain(name));
  return (path) => {
    const snapshot = readings.snapshot();
    const { haveNames, all, current, silent } = snapshot;
    const hasKnown = all || silent.size > 0;
    // Without a name, no metric tells that a sensor is silent
    const hasMetrics = haveNames ? hasKnown : all;
    const hasHistory = all || !history.isEmpty;
    switch (path) {
      case READING_PATH:
        return all ? () => responses.reading(all) : unavailable();
      case METRICS_PATH:
        return hasMetrics ? () => responses.metrics(snapshot) : unavailable();
      case SENSORS_PATH:
        return hasKnown ? () => responses.sensors(snapshot) : unavailable();
      case HISTORY_PATH:
        return hasHistory
          ? () => responses.history(history.csv())
          : unavailable();
      case PAGE_PATH:
        return () => responses.page();
    }
    const isOfSensor = haveNames && path.startsWith(SENSOR_PREFIX);
    if (!isOfSensor) return UNKNOWN_PATH_WITH_SENSOR;
    const name = path.slice(SENSOR_PREFIX.length);
    const reading = current.get(name);
    if (reading) return () => responses.reading(reading);
    return silent.has(name) ? unavailable(name) : UNKNOWN_SENSOR;
  };
}

/** Creates the innermost handler, which answers for the resource that a lookup finds. */
export function createRouter(lookup: Lookup, responses: Responses): Handler {
  const parsePath = memoizeLast(decodePath);
  return ({ method }, { target }) => {
    if (target === undefined) return responses.problem(400, BAD_HOST);
    const found = lookup(parsePath(target));
    if (typeof found === "string") return responses.problem(404, found);
    if (method === "OPTIONS") return responses.options();
    const isRead = method === "GET" || method === "HEAD";
    return isRead ? found() : responses.problem(405, READ_ONLY);
  };
}

/**
 * Returns the path of a target, with its escapes decoded once: `/%64atasensor` is the same
 * resource (RFC 3986, section 6.2.2.2). For a malformed escape, it returns an empty path, which
 * no resource has.
 */
function decodePath(target: string): string {
  try {
    return decodeURIComponent(target.split("?", 1)[0]!);
  } catch {
    return "";
  }
}
