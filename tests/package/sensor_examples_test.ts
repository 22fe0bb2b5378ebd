// The examples of the settings file, run as the sensor's unit runs them: files like the
// kernel's, and programs that stand in for others, in; lines out.

import { assertEquals } from "@std/assert";
import { parseCommand } from "../../src/process/command_line.ts";
import { type Files, Machine, missingMachine } from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";

const SETTINGS = await Deno.readTextFile(
  "src/board/package/etc/default/datasensor",
);

/** The sensors of the examples, as systemd reads them. */
const EXAMPLES = Array.from(
  SETTINGS.matchAll(/^#SENSOR=(.*)$/gm),
  ([, value]) => value!.replace(/\\(.)/g, "$1"),
);

/** What rtl_433 prints for three transmitters, two of which have the same id. */
const HEARD =
  `{"time" : "2026-11-22 19:00:00", "model" : "Nexus-TH", "id" : 42, "channel" : 1, "temperature_C" : 21.600}
{"time" : "2026-11-22 19:00:02", "model" : "LaCrosse-WS3600", "id" : 42, "temperature_C" : 22.800}
{"time" : "2026-11-22 19:00:05", "model" : "Cardin-S466", "dipswitch" : "--+-+--+", "rbutton" : "11R"}
`;

/** The sensors of the examples, and programs that stand in for theirs. */
const FILES: Files = {
  "/home/pi/venv/bin/python": "#!/bin/sh\necho 8\n",
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  ...ds18b20("28-0000075a1b2c", 21500),
  ...ds18b20("28-0000075b3c4d", -3250),
  ...inFolder("/sys/bus/iio/devices/iio:device0", {
    "in_temp_input": "21560\n",
    "in_humidityrelative_input": "40216\n",
    "in_pressure_input": "101.325000000\n",
    "in_illuminance_raw": "120\n",
    "in_illuminance_scale": "0.833333\n",
  }),
  ...inFolder("/usr/local/bin", {
    attic: `#!/bin/sh\necho '{"name": "attic", "t": 12}'`,
    kitchen: `#!/bin/sh\necho '{"name": "kitchen", "t": 20}'`,
    "mosquitto_sub": `#!/bin/sh\necho "$*"`,
    sleep: "#!/bin/sh\nkill $PPID", // ends a loop
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

/** Returns the file of a DS18B20, with a temperature in thousandths of a degree. */
function ds18b20(id: string, t: number): Files {
  const memory = "58 01 4b 46 7f ff 0c 10 4c";
  const text = `${memory} : crc=4c YES\n${memory} t=${t}\n`;
  return { [`/sys/bus/w1/devices/${id}/w1_slave`]: text };
}

/** A part of each example, in their order, and the lines that it prints. */
const PRINTED: [part: string, lines?: string[]][] = [
  ["print $1 / 1000", ["48.312"]],
  ["jq -c '{temperature_C", ['{"temperature_C":48.312}']],
  ["ds18b20", ['{"28-0000075a1b2c": 21.5, "28-0000075b3c4d": -3.25}']],
  ["ds18b20 28-0000075a1b2c", ["21.5"]],
  ["in_pressure_input", [
    '{"temperature_C":21.56,"humidity":40.216,"pressure_hPa":1013.25}',
  ]],
  ["in_humidityrelative_input", ['{"temperature_C":21.56,"humidity":40.216}']],
  ["in_illuminance_raw", ['{"light_lux":99.99996}']],
  ["sensors", ['{"sht3x-i2c-1-44":{"temp1":{"temp1_input":21.5}}}']],
  ["/dev/ttyACM0"], // tests/board has a serial port
  ["mosquitto_sub", ["-R -h BROKER -t zigbee2mqtt/kitchen"]],
  ["rtl_433", HEARD.trim().split("\n")],
  ["grep", HEARD.split("\n").slice(0, 1)],
  ["attic", ['{"name": "attic", "t": 12}', '{"name": "kitchen", "t": 20}']],
  ["my-sensor | jq", ['{"t":[0,-1]}']],
  ["thermometer", ['{"temperature_C":0}']],
  ["tail"], // tests/board adds to the file
  ["paste", ['{"t": nan}\t{"t":', "[0, -1]}"]],
  ["python", ["8"]],
];

Deno.test("each example of the settings file has a test", async () => {
  const session = await Deno.readTextFile("tests/board/sensors.md");
  const hasTest = (example: string, index: number) => {
    const [part, lines] = PRINTED[index] ?? [];
    const isTyped = session.includes(`> SENSOR=${example}\n`);
    return part && example.includes(part) && (lines || isTyped);
  };
  const others = EXAMPLES.filter((it, index) => !hasTest(it, index));
  assertEquals([others, EXAMPLES.length], [[], PRINTED.length]);
});

Deno.test("the flags of each example of the settings file are valid", () => {
  const flags = Array.from(
    SETTINGS.matchAll(/^#FLAGS=(.*)$/gm),
    ([, it]) => it!,
  );
  const kinds = flags.map((it) => parseCommand(it.split(" ")).kind);
  assertEquals(new Set(kinds), new Set(["serve"]), `${flags}`);
});

for (const [index, [part, lines]] of PRINTED.entries()) {
  if (!lines) continue;
  Deno.test(
    skipIf(missingMachine("jq"), `the example with "${part}" prints`),
    async () => {
      await using machine = await Machine.start(FILES);
      await using sensor = machine.startSensor(EXAMPLES[index]!);
      await sensor.waitForEnd();
      const printed = sensor.stdout.trimEnd().split("\n").sort();
      assertEquals(printed, lines.toSorted(), sensor.stderr);
    },
  );
}
