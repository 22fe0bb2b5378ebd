// A last day, as the service has it.

const SLOT_MS = 300_000;

/** Returns the CSV of slots, the last of which has ended at a time, with numbers of some labels. */
export function writeDay(
  end: number,
  labels: string[],
  rows: string[],
): string {
  const columns = labels.map((label) =>
    `,min${label},mean${label},max${label}`
  );
  const lines = rows.map((cells, index) => {
    const time = new Date(end - SLOT_MS * (rows.length - 1 - index));
    return `${time.toISOString()},${cells}\r\n`;
  });
  return `time${columns.join("")}\r\n${lines.join("")}`;
}
