// deno-lint-ignore-file camelcase -- the keys are names of files and commands

// The examples of sensors in the settings, run as the sensor's unit runs them, on files
// like the kernel's and with programs that stand in for others. tests/board runs some of
// them on boards.

import { assertEquals, assertMatch } from "@std/assert";
import { HEARD, KEYS } from "../consumers/radio.ts";
import { guide } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { waitFor } from "../helpers/wait.ts";
import {
  addDevice,
  BME280,
  DHT22,
  DS18B20,
  formatDs18b20,
  SensorUnit,
} from "./sensor_unit.ts";

const settings = await Deno.readTextFile(
  "src/board/package/etc/default/datasensor",
);
const examples = settings.match(/(?<=^#SENSOR=).*$/gm)!;

/** The readings of the radio sensors, with 0 for a time, as compared here. */
const heard = HEARD.trim().split("\n")
  .map((line) => ({ ...JSON.parse(line), time: 0 }));
const byKey = Object.fromEntries(heard.map((it, index) => [KEYS[index], it]));

const BME280_READING = {
  temperature_C: 21.56,
  humidity: 40.216,
  pressure_hPa: 1013.2526,
};

/** What lm-sensors prints. */
const SENSORS = `{
   "sht3x-i2c-1-44":{
      "temp1":{ "temp1_input": 21.5 }
   }
}
`;

/** The guide's command that keeps radio sensors apart. */
const [KEEP_APART] = guide.match(/(?<=`… \| )\S+\/latest .*?(?=`)/);

/** A part of each example, what it does, how many lines it prints, and the last. */
const EXAMPLES: [
  part: RegExp | string,
  does: string,
  lines: number,
  last: unknown,
][] = [
  [/board;/, "prints the state of the board", 1, {
    temperature_C: 48.312,
    load: 0.42,
    free_memory_MB: 524,
  }],
  [/ds18b20;/, "prints each DS18B20 by its id", 1, {
    "28-0000075a1b2c": 21.5,
    "28-0000075b3c4d": -3.25,
  }],
  [/ds18b20 28-/, "prints one DS18B20", 1, 21.5],
  [
    /^while .*iio bme280/,
    "prints a BME280 in usual units",
    1,
    BME280_READING,
  ],
  [/iio dht11/, "prints a DHT22", 1, { temperature_C: -3.5, humidity: 81 }],
  [/sensors -j/, "prints all that lm-sensors knows", 1, JSON.parse(SENSORS)],
  [/^mosquitto_sub/, "prints the messages of a topic", 1, { t: 21.5 }],
  [/rtl_433 -F json$/, "prints what radio sensors send", 10, undefined],
  [`| ${KEEP_APART}`, "keeps the last reading of each radio sensor", 6, byKey],
  [/select/, "prints one radio sensor", 2, heard[1]],
  [/merge/, "keeps several programs apart", 2, {
    kitchen: { value: 20, time: 0 },
    attic: { value: BME280_READING, time: 0 },
  }],
  [/my-sensor \|/, "adds the time to each reading", 1, { value: 7, time: 0 }],
  [/sensor\.py/, "runs a script in a virtual environment", 1, 8],
];

/** Programs that the examples run. None ends, and sleep is only called once. */
const PROGRAMS = {
  sleep: "exec /bin/sleep infinity",
  kitchen: "echo 20; sleep 5",
  "my-sensor": "echo junk; echo 7; sleep 5",
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

/** Returns a board with the sensors and programs of all examples. */
async function createBoard(): Promise<SensorUnit> {
  const unit = await SensorUnit.create();
  for (const [name, text] of Object.entries(PROGRAMS)) {
    await unit.writeProgram(`/usr/local/bin/${name}`, `#!/bin/sh\n${text}\n`);
  }
  const python = "/home/pi/venv/bin/python";
  await unit.writeProgram(python, "#!/bin/sh\necho 8\nsleep 5\n");
  const zone = "/sys/class/thermal/thermal_zone0/temp";
  await unit.write(zone, "48312\n");
  await unit.write("/proc/loadavg", "0.42 0.40 0.39 1/123 4567\n");
  await unit.write(
    "/proc/meminfo",
    "MemTotal:  948304 kB\nMemFree:  1 kB\nMemAvailable:  512000 kB\n",
  );
  const second = { memory: "cc ff 4b 46 7f ff 0c 10 4c", t: -3250 };
  const sensors = { "28-0000075a1b2c": {}, "28-0000075b3c4d": second };
  for (const [id, values] of Object.entries(sensors)) {
    await unit.write(`${DS18B20}/${id}/w1_slave`, formatDs18b20(values));
  }
  await addDevice(unit, 0, DHT22); // numbers say nothing of what a device is
  await addDevice(unit, 1, BME280);
  return unit;
}

/** Parses a line, with 0 for each time. */
function parse(line: string): unknown {
  return JSON.parse(line.replace(/"20[-\d]+[T ][\d:]+Z?"/g, "0"));
}

/** Returns whether a line has the same values, in whatever order. */
function isLast(line: string, last: unknown): boolean {
  try {
    assertEquals(parse(line), last);
    return true;
  } catch {
    return false;
  }
}

function findExamples(part: RegExp | string): string[] {
  const has = (example: string) =>
    typeof part === "string" ? example.includes(part) : part.test(example);
  return examples.filter(has);
}

for (const [part, does, count, last] of EXAMPLES) {
  Deno.test(
    `the example ${does}, at once, on a board whose language is German too`,
    needs({ commands: ["jq"] }),
    async () => {
      const found = findExamples(part);
      assertEquals(found.length, 1, String(part));
      using unit = await createBoard();
      await using sensor = unit.start(found[0]!);
      const lines = () => sensor.stdout.split("\n").slice(0, -1);
      const isExpected = (lines: string[]) =>
        lines.length >= count &&
        (last === undefined || isLast(lines.at(-1)!, last));
      await waitFor(`${count} lines`, lines, isExpected);
      assertEquals(lines().length, count);
    },
  );
}

/** The sensors of the guide's table, and the commands that read them. */
const TABLE = guide.text.matchAll(
  /^\| (.*?) +\| `dtoverlay=\S+` +\| `(.*?)` +\|$/gm,
);

/** How the guide repeats them, and how it shows which sensors `iio` reads. */
const [, REPEAT] = guide.match(/`SENSOR=(while .*? COMMAND; .*?)`/);
const [SHOW_NAMES] = guide.match(/(?<=`)cat \/sys\/bus\/iio\/.*?(?=`)/);

for (const [, name, command] of TABLE) {
  Deno.test(
    `the guide's command reads ${name}, repeatedly`,
    needs({ commands: ["jq"] }),
    async () => {
      using unit = await createBoard();
      const device = command!.match(/iio (\w+)/)?.[1];
      if (device && !["bme280", "dht11"].includes(device)) {
        await addDevice(unit, 2, { name: `${device}\n`, in_temp_input: "1\n" });
      }
      const read = command!.replace("\\|", "|");
      await using sensor = unit.start(REPEAT!.replace("COMMAND", read));
      const [line] = await sensor.waitForMatch(/^.*\n/);
      assertEquals(typeof JSON.parse(line), "object");
      if (!device) return;
      const { stdout } = await unit.run(SHOW_NAMES);
      assertMatch(stdout, RegExp(`^${device}`, "m"));
    },
  );
}

Deno.test("each example of a sensor has a test", () => {
  const tested = EXAMPLES.flatMap(([part]) => findExamples(part));
  assertEquals(new Set(tested), new Set(examples));
});
