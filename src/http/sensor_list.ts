import {
  listSensors,
  MAX_RESPONSE_CHARACTERS,
  type Snapshot,
} from "../sensor/reading.ts";

/**
 * Formats the known sensors as a JSON array, sorted by name: of each its name, when its last
 * reading arrived, how old that is, in seconds, and that reading, as "last" instead of "reading"
 * while the sensor is silent. An only sensor has no name. Without room for all sensors, those
 * with the oldest readings are left out, first silent ones.
 *
 * @param wallTime The time of the wall clock by which readings have their age.
 */
export function formatSensorList(snapshot: Snapshot, wallTime: number): string {
  const sensors: { name: string; text: string }[] = [];
  let room = MAX_RESPONSE_CHARACTERS;
  for (const sensor of listSensors(snapshot)) {
    const { time, json, isCurrent } = sensor;
    const name = snapshot.haveNames ? sensor.name : undefined;
    const age = Math.round((wallTime - time) / 100) / 10;
    const members = JSON.stringify({ name, time: new Date(time), age });
    const key = isCurrent ? "reading" : "last";
    const text = `${members.slice(0, -1)},"${key}":${json}}`;
    room -= text.length + 1;
    if (room <= 0) break;
    sensors.push({ name: sensor.name, text });
  }
  sensors.sort((a, b) => a.name < b.name ? -1 : 1);
  return `[${sensors.map(({ text }) => text).join(",")}]`;
}
