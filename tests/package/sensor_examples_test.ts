// The sensor of the settings file and the examples beside it, run as the sensor's unit runs
// them: files like the kernel's, and programs that stand in for others, in; lines out.
// tests/board runs the others: those with a serial port or a file that changes, and
// sensors.sh.

import { assertEquals, assertMatch } from "@std/assert";
import { parseCommand } from "../../src/process/command_line.ts";
import {
  ds18b20,
  type Files,
  Machine,
  missingMachine,
  UNREADABLE,
} from "../helpers/machine.ts";
import type { Process } from "../helpers/process.ts";
import { skipIf } from "../helpers/skip.ts";

/** The files with sensors to copy, beside the settings' own. */
const [SETTINGS, EXAMPLES, SCRIPT] = await Promise.all(
  ["package/etc/default/datasensor", "examples.conf", "sensors.sh"].map(
    (file) => Deno.readTextFile(`src/board/${file}`),
  ),
) as [string, string, string];

/** The sensors. They avoid backslashes, which systemd would remove. */
const SENSORS = `${SETTINGS}\n${EXAMPLES}`.match(/(?<=^SENSOR=).*/gm)!;

/** Returns the only sensor that matches a pattern. */
function sensorOf(pattern: RegExp): string {
  const found = SENSORS.filter((it) => pattern.test(it));
  assertEquals(found.length, 1, `Sensors that match ${pattern}`);
  return found[0]!;
}

/** What rtl_433 prints for three transmitters, two of which have the same id. */
const HEARD =
  `{"time" : "2026-11-22 19:00:00", "model" : "Nexus-TH", "id" : 42, "channel" : 1, "temperature_C" : 21.600}
{"time" : "2026-11-22 19:00:02", "model" : "LaCrosse-WS3600", "id" : 42, "temperature_C" : 22.800}
{"time" : "2026-11-22 19:00:05", "model" : "Cardin-S466", "dipswitch" : "--+-+--+", "rbutton" : "11R"}
`;

/** Files of sensors, and programs that stand in for those of the examples. */
const FILES: Files = {
  "/home/pi/venv/bin/python": "#!/bin/sh\necho 8\n",
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  ...ds18b20("28-0000075a1b2c"),
  ...ds18b20("28-0000075b3c4d", { t: -3250 }),
  ...inFolder("/sys/bus/iio/devices/iio:device0", {
    "in_temp_input": "21560\n",
    "in_temp_raw": "25000\n",
    "in_temp_offset": "-15000.000000\n",
    "in_temp_scale": "2.500000\n",
    "in_humidityrelative_input": "40216\n",
    "in_pressure_input": "101.325000000\n",
    "in_illuminance_raw": "120\n",
    "in_illuminance_scale": "0.833333\n",
  }),
  ...inFolder("/usr/local/bin", {
    "curl": '#!/bin/sh\nprintf \'{"id":100,"tC":21.5}\'',
    "mosquitto_sub": `#!/bin/sh\necho "$*"`,
    "my-sensor":
      "#!/bin/sh\nprintf '%s\\n' '{\"t\": nan}' '{\"t\":' '[0, -1]}'",
    "rtl_433": `#!/bin/sh\ncat <<'END'\n${HEARD}END\n`,
    sensors: `#!/bin/sh\ncat <<'END'
{
   "sht3x-i2c-1-44":{
      "temp1":{ "temp1_input": 21.5 }
   }
}
END
`,
    thermometer: `#!/bin/sh\ncat <<'END'
{"temperature_C": nan}
{"temperature_C": 1e999}
{"temperature_C": 2.1, "humidity": nan}
{"temperature_C": 2.1}
END
`,
  }),
};

/** Returns files in a folder. */
function inFolder(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]),
  );
}

/** The sensor that reads two of the kernel's files. */
const DHT22 = /1000\)}' in_temp_input in_humidityrelative_input$/;

/** A pattern of each sensor, and the lines that it prints. */
const PRINTED: [pattern: RegExp, lines: string[]][] = [
  [/^awk/, ["48.312"]],
  [/^jq -c '{temperature_C/, ['{"temperature_C":48.312}']],
  [/ds18b20$/, ['{"28-0000075a1b2c": 21.5, "28-0000075b3c4d": -3.25}']],
  [/ds18b20 28-/, ["21.5"]],
  [DHT22, [
    '{"temperature_C":21.56,"humidity":40.216}',
  ]],
  [/in_pressure_input/, [
    '{"temperature_C":21.56,"humidity":40.216,"pressure_hPa":1013.25}',
  ]],
  [/in_illuminance_raw/, ['{"light_lux":99.99996}']],
  [/in_temp_offset/, ['{"temperature_C":25}']],
  [/^sensors -j/, ['{"sht3x-i2c-1-44":{"temp1":{"temp1_input":21.5}}}']],
  [/^curl/, ['{"id":100,"tC":21.5}']],
  [/^mosquitto_sub/, ["-R -h BROKER -t zigbee2mqtt/kitchen"]],
  [/^rtl_433 -F json$/, HEARD.trim().split("\n")],
  [/ grep /, HEARD.split("\n").slice(0, 1)],
  [/my-sensor . jq/, ['{"t":[0,-1]}']],
  [/thermometer/, ['{"temperature_C":0}']],
  [/ paste /, ['{"t": nan}\t{"t":', "[0, -1]}"]],
  [/python/, ["8"]],
];

Deno.test("the flags of the settings file and the examples are valid", () => {
  const files = [SETTINGS, EXAMPLES, SCRIPT].join("\n");
  const flags = files.match(/(?<=^(# {3})?FLAGS=).*$/gm)!;
  const kinds = flags.map((it) =>
    parseCommand(["--stdin", ...it.split(" ")]).kind
  );
  assertEquals(kinds, ["serve", "serve", "serve"], `${flags}`);
});

/** Runs a sensor until it ends, and returns what it has printed. */
async function run(sensor: string, files: Files): Promise<Process> {
  await using machine = await Machine.start(files);
  await using process = machine.startSensor(sensor);
  await process.waitForEnd();
  return process;
}

for (const [pattern, lines] of PRINTED) {
  Deno.test(
    skipIf(missingMachine("jq"), `the sensor that matches ${pattern} prints`),
    async () => {
      const { stdout, stderr } = await run(sensorOf(pattern), FILES);
      const printed = stdout.trimEnd().split("\n").sort();
      assertEquals(printed, lines.toSorted(), stderr);
    },
  );
}

const DEVICE = "/sys/bus/iio/devices/iio:device0";
const TEMPERATURE = `${DEVICE}/in_temp_input`;

/** What a file of a sensor that cannot be read contains, and what jq says then. */
const BAD_FILES: [what: string, files: Files, error: RegExp][] = [
  ["is missing", {}, /Could not open .*in_temp_input/],
  ["is empty", { [TEMPERATURE]: "" }, /break/],
  ["cannot be read", { [TEMPERATURE]: UNREADABLE }, /Input.output error/],
  ["holds no number", { [TEMPERATURE]: "oops\n" }, /Invalid/],
];

for (const [what, files, error] of BAD_FILES) {
  Deno.test(
    skipIf(
      missingMachine("jq"),
      `jq prints nothing if one of two files ${what}`,
    ),
    async () => {
      const humidity = { [`${DEVICE}/in_humidityrelative_input`]: "40216\n" };
      const process = await run(sensorOf(DHT22), { ...files, ...humidity });
      assertEquals(process.stdout, "");
      assertMatch(process.stderr, error);
    },
  );
}
