// What the service answers to the page.

const SLOT_MS = 300_000;

/** What is known of a sensor: its name, age in seconds, and reading, or last one. */
export type Sensor = [string?, unknown?, unknown?, unknown?];

/** Returns what `/sensors` answers at a time. */
export const writeSensors = (sensors: Sensor[], now: number): string =>
  JSON.stringify(sensors.map(([name, age = 0, reading, last]) => {
    const time = new Date(now - 1000 * (Number(age) || 0));
    return { name, time, age, reading, last };
  }));

/** Returns what `/history` answers: slots of some labels, the last of which ends at a time. */
export function writeDay(
  end: number,
  labels: string[],
  rows: string[],
): string {
  const columns = labels.map((it) => `,min${it},mean${it},max${it}`);
  const lines = rows.map((cells, index) => {
    const time = new Date(end - SLOT_MS * (rows.length - 1 - index));
    return `${time.toISOString()},${cells}\r\n`;
  });
  return `time${columns.join("")}\r\n${lines.join("")}`;
}
