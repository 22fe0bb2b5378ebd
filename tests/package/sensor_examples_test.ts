// deno-lint-ignore-file camelcase -- the keys are names of files and commands

// The examples of the settings file, run as the sensor's unit runs them: files like the
// kernel's, and programs that stand in for others, in; lines out.

import { assertEquals } from "@std/assert";
import { HEARD, KEYS } from "../readers/radio.ts";
import { needs } from "../helpers/needs.ts";
import { waitFor } from "../helpers/wait.ts";
import {
  BME280,
  DHT22,
  ds18b20,
  type Files,
  iio,
  inFolder,
  SensorUnit,
} from "./sensor_unit.ts";

const SETTINGS = "src/board/package/etc/default/datasensor";
const EXAMPLES = (await Deno.readTextFile(SETTINGS))
  .match(/(?<=^#SENSOR=)(?!tail).*$/gm)!; // a session adds to the file of that one

/** The readings of the radio sensors, with 0 for a time, as compared here. */
const heard = HEARD.trim().split("\n")
  .map((line) => ({ ...JSON.parse(line), time: 0 }));
const byKey = Object.fromEntries(heard.map((it, index) => [KEYS[index], it]));

/** What lm-sensors prints. */
const SENSORS = `{
   "sht3x-i2c-1-44":{
      "temp1":{ "temp1_input": 21.5 }
   }
}
`;

/** Programs that the examples run. None ends, and sleep is only called once. */
const PROGRAMS: Files = {
  sleep: "exec /bin/sleep infinity",
  kitchen: `echo '{"name": "kitchen", "t": 20}'; sleep 5`,
  attic: `echo '{"name": "attic", "t": 12}'; sleep 5`,
  "my-sensor": "echo junk; echo 7; sleep 5",
  thermometer: `echo '{"temperature_C": 21.5}'; sleep 5`,
  sensors: `cat <<'END'\n${SENSORS}END`,
  mosquitto_sub: `test "$1" = -R && echo '{"t": 21.5}'; sleep 5`,
  rtl_433: `cat <<'END'
${HEARD}junk
5
[]
{"time" : "2026
END
sleep 5`,
};

/** The sensors and programs of all examples. */
const FILES: Files = {
  ...inFolder(
    "/usr/local/bin",
    Object.fromEntries(
      Object.entries(PROGRAMS)
        .map(([name, text]) => [name, `#!/bin/sh\n${String(text)}\n`]),
    ),
  ),
  "/home/pi/venv/bin/python": "#!/bin/sh\necho 8\nsleep 5\n",
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  "/proc/loadavg": "0.42 0.40 0.39 1/123 4567\n",
  "/proc/meminfo": "MemFree:  1 kB\nMemAvailable:  512000 kB\n",
  ...ds18b20("28-0000075a1b2c"),
  ...ds18b20("28-0000075b3c4d", { t: -3250 }),
  ...iio(0, "dht11@4", DHT22), // numbers say nothing of what a device is
  ...iio(1, "bme280", BME280),
};

/** A part of each example, how many lines it prints, and the last of them. */
const PRINTED: [part: RegExp, lines: number, last: unknown][] = [
  [/board;/, 1, { temperature_C: 48.312, load: 0.42, free_memory_MB: 524 }],
  [/ds18b20;/, 1, { "28-0000075a1b2c": 21.5, "28-0000075b3c4d": -3.25 }],
  [/ds18b20 28-/, 1, 21.5],
  [
    /iio bme280/,
    1,
    { temperature_C: 21.56, humidity: 40.216, pressure_hPa: 1013.2526 },
  ],
  [/iio dht11/, 1, { temperature_C: -3.5, humidity: 81 }],
  [/sensors -j/, 1, JSON.parse(SENSORS)],
  [/^mosquitto_sub/, 1, { t: 21.5 }],
  [/rtl_433 -F json$/, 10, undefined],
  [/rtl_433 .*latest/, 6, byKey],
  [/select/, 2, heard[1]],
  [/kitchen & .*attic/, 2, {
    kitchen: { name: "kitchen", t: 20, time: 0 },
    attic: { name: "attic", t: 12, time: 0 },
  }],
  [/temperature_C -= /, 1, { temperature_C: 19.4 }],
  [/paste/, 1, undefined],
  [/my-sensor \| jq/, 1, { value: 7, time: 0 }],
  [/sensor\.py/, 1, 8],
];

/** Returns whether a line has the same values in whatever order, with 0 for each time. */
function isLast(line: string, last: unknown): boolean {
  try {
    const values = line.replace(/"20[-\d]+[T ][\d:]+Z?"/g, "0");
    assertEquals(JSON.parse(values), last);
    return true;
  } catch {
    return false;
  }
}

for (const example of EXAMPLES) {
  Deno.test(
    `the example prints at once, on a German board too: ${example}`,
    needs({ commands: ["jq"] }),
    async () => {
      const rows = PRINTED.filter(([part]) => part.test(example));
      assertEquals(rows.length, 1, "not one row of PRINTED is about it");
      const [[, count, last]] = rows as [typeof PRINTED[number]];
      using unit = await SensorUnit.create(FILES);
      await using sensor = unit.start(example);
      const lines = () => sensor.stdout.split("\n").slice(0, -1);
      const isExpected = (lines: string[]) =>
        lines.length >= count &&
        (last === undefined || isLast(lines.at(-1)!, last));
      await waitFor(`${count} lines`, lines, isExpected);
      assertEquals(lines().length, count);
    },
  );
}
