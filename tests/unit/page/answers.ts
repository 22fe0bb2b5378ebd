// What the service answers to the page.

const SLOT_MS = 300_000;

/** A known sensor: its name, age in seconds, and reading, or last one. */
export type Sensor = [string?, unknown?, unknown?, unknown?];

/** Returns what `/sensors` answers at a time. */
export const writeSensors = (sensors: Sensor[], now: number): string =>
  JSON.stringify(sensors.map(([name, age = 0, reading, last]) => {
    const time = new Date(now - 1000 * (Number(age) || 0));
    return { name, time, age, reading, last };
  }));

/** Returns what `/history` answers: slots of some series, the last of which ends at a time. */
export function writeCsv(
  end: number,
  names: string[],
  rows: string[],
): string {
  const columns = names.map((it) => `,min${it},mean${it},max${it}`);
  const lines = rows.map((cells, index) => {
    const time = new Date(end - SLOT_MS * (rows.length - 1 - index));
    return `${time.toISOString()},${cells}\r\n`;
  });
  return `time${columns.join("")}\r\n${lines.join("")}`;
}
