import { ONLY_SENSOR, type Snapshot } from "../sensor/reading.ts";

// Of the response: thousands of short names would take more than all lines
const MAX_CHARACTERS = 512 * 1024;

/**
 * Formats what is known of each sensor as a JSON array, sorted by name: its name, when its last
 * reading arrived, how old that is, in seconds, and the reading, unless the sensor is silent.
 * An only sensor has no name. Without room for all sensors, those that have been silent longest
 * are left out.
 *
 * @param now The time of the system clock for which the snapshot was taken.
 */
export function formatSensors(snapshot: Snapshot, now: number): string {
  const { current, silent, onlySilent } = snapshot;
  const sensors: [name: string, json: string][] = [];
  let room = MAX_CHARACTERS;
  const add = (name: string, time: number, reading?: string) => {
    const age = Math.round((now - time) / 100) / 10;
    const json = "{" +
      (name === ONLY_SENSOR ? "" : `"name":${JSON.stringify(name)},`) +
      `"time":"${new Date(time).toISOString()}","age":${age}` +
      (reading === undefined ? "" : `,"reading":${reading}`) + "}";
    room -= json.length + 1;
    if (room > 0) sensors.push([name, json]);
  };
  for (const [name, { time, json }] of current) add(name, time, json);
  for (const [name, time] of silent) add(name, time);
  if (onlySilent !== undefined) add(ONLY_SENSOR, onlySilent);
  sensors.sort(([a], [b]) => a < b ? -1 : 1);
  return `[${sensors.map(([, json]) => json).join(",")}]`;
}
