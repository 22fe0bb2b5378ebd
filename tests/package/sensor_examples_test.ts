// The examples of the settings file, run as the sensor's unit runs them: files like the
// kernel's, and programs that stand in for others, in; lines out.

import { assertEquals, assertMatch } from "@std/assert";
import { parseCommand } from "../../src/process/command_line.ts";
import {
  type Files,
  Machine,
  missingMachine,
  UNREADABLE,
} from "../helpers/machine.ts";
import type { Process } from "../helpers/process.ts";
import { skipIf } from "../helpers/skip.ts";

const SETTINGS = await Deno.readTextFile(
  "src/board/package/etc/default/datasensor",
);

/** The sensors of the examples. They avoid backslashes, which systemd would remove. */
const EXAMPLES = SETTINGS.match(/(?<=^#SENSOR=).*/gm)!;

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
    "in_temp_raw": "25000\n",
    "in_temp_offset": "-15000.000000\n",
    "in_temp_scale": "2.500000\n",
    "in_humidityrelative_input": "40216\n",
    "in_pressure_input": "101.325000000\n",
    "in_illuminance_raw": "120\n",
    "in_illuminance_scale": "0.833333\n",
  }),
  ...inFolder("/usr/local/bin", {
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
  ["-nc '{temperature_C: (input / 1000), humidity: (input / 1000)}'", [
    '{"temperature_C":21.56,"humidity":40.216}',
  ]],
  ["in_pressure_input", [
    '{"temperature_C":21.56,"humidity":40.216,"pressure_hPa":1013.25}',
  ]],
  ["in_illuminance_raw", ['{"light_lux":99.99996}']],
  ["in_temp_offset", ['{"temperature_C":25}']],
  ["sensors", ['{"sht3x-i2c-1-44":{"temp1":{"temp1_input":21.5}}}']],
  ["/dev/ttyACM0"], // tests/board has a serial port
  ["mosquitto_sub", ["-R -h BROKER -t zigbee2mqtt/kitchen"]],
  ['name: "outside"', [
    '{"name":"outside","temperature_C":21.5}',
    '{"name":"inside","temperature_C":21.56,"humidity":40.216}',
  ]],
  ["attic"], // tests/board runs both for a while
  ["rtl_433", HEARD.trim().split("\n")],
  ["grep", HEARD.split("\n").slice(0, 1)],
  ["my-sensor | jq", ['{"t":[0,-1]}']],
  ["thermometer", ['{"temperature_C":0}']],
  ["tail"], // tests/board adds to the file
  ["paste", ['{"t": nan}\t{"t":', "[0, -1]}"]],
  ["python", ["8"]],
];

Deno.test("each example of the settings file has a test", async () => {
  const pages = ["sensors", "several"].map((it) => `tests/board/${it}.md`);
  const sessions = await Promise.all(pages.map((it) => Deno.readTextFile(it)));
  const hasTest = (example: string, index: number) => {
    const [part, lines] = PRINTED[index] ?? [];
    const isTyped = sessions.join("").includes(`> SENSOR=${example}\n`);
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

/** Runs a sensor until it ends, and returns what it has printed. */
async function run(sensor: string, files: Files): Promise<Process> {
  await using machine = await Machine.start(files);
  await using process = machine.startSensor(sensor);
  await process.waitForEnd();
  return process;
}

for (const [index, [part, lines]] of PRINTED.entries()) {
  if (!lines) continue;
  Deno.test(
    skipIf(missingMachine("jq"), `the example with "${part}" prints`),
    async () => {
      const { stdout, stderr } = await run(EXAMPLES[index]!, FILES);
      const printed = stdout.trimEnd().split("\n").sort();
      assertEquals(printed, lines.toSorted(), stderr);
    },
  );
}

/** The example that reads two of the kernel's files. */
const TWO_FILES = EXAMPLES.find((it) =>
  it.endsWith(" in_humidityrelative_input")
)!;
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
      const process = await run(TWO_FILES, { ...files, ...humidity });
      assertEquals(process.stdout, "");
      assertMatch(process.stderr, error);
    },
  );
}
