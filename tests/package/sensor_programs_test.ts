// deno-lint-ignore-file camelcase -- the keys are names of files

// The package's programs: files like the kernel's or lines in, a line and a status out.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { needs } from "../helpers/needs.ts";
import {
  BME280,
  DHT22,
  ds18b20,
  type Files,
  iio,
  inFolder,
  SensorUnit,
  UNREADABLE,
} from "./sensor_unit.ts";

/** A call of a program, and what it prints. Without a line, it ends with 1. */
type Row = [
  what: string,
  command: string,
  files: Files,
  line: string | undefined,
  error?: RegExp,
];

const MLX90614: Files = {
  in_temp_ambient_raw: "14900\n",
  in_temp_object_raw: "14700\n",
  in_temp_scale: "20\n",
  in_temp_offset: "-13657.500000\n",
};

/** Two sensors of the same name, at two addresses of a bus. */
const TWO_BME280: Files = {
  "/sys/bus/iio/devices/iio:device6": "->../../../devices/i2c-1/1-0076/six",
  "/sys/bus/iio/devices/iio:device7": "->../../../devices/i2c-1/1-0077/seven",
  ...inFolder("/sys/devices/i2c-1/1-0076/six", { name: "bme280\n", ...BME280 }),
  ...inFolder("/sys/devices/i2c-1/1-0077/seven", {
    name: "bme280\n",
    in_temp_input: "2000\n",
  }),
};

/** A second sensor beside one that cannot be used. */
const SECOND = ds18b20("28-2");

const BAD = '{"28-2": 21.5}';
const NO_TEMP = /^iio: Channel "temp" of "bme280" cannot be read$/m;
const NO_AMBIENT =
  /^iio: Channel "temp_ambient" of "mlx90614" cannot be read$/m;

// deno-fmt-ignore -- a row each
const ROWS: Row[] = [
  ["each", "ds18b20", { ...ds18b20("28-1", { t: -3250 }), ...SECOND }, '{"28-1": -3.25, "28-2": 21.5}'],
  ["one", "ds18b20 28-2", { ...ds18b20("28-1"), ...SECOND }, "21.5"],
  ["one that is unplugged", "ds18b20 28-1", SECOND, undefined, /28-1\/w1_slave: No such file/],
  ["none", "ds18b20", { "/sys/bus/w1/devices/w1_bus": "" }, undefined, /^No DS18B20 could be read in /m],
  ["an empty file, as after a failed conversion", "ds18b20", { "/sys/bus/w1/devices/28-1/w1_slave": "", ...SECOND }, BAD],
  ["an unreadable file", "ds18b20", { "/sys/bus/w1/devices/28-1/w1_slave": UNREADABLE, ...SECOND }, BAD, /Input\/output error/],
  ["a wrong checksum", "ds18b20", { ...ds18b20("28-1", { crc: "NO" }), ...SECOND }, BAD],
  ["85 °C after power-on", "ds18b20", { ...ds18b20("28-1", { memory: "50 05 4b 46 7f ff 0c 10 1c", t: 85000 }), ...SECOND }, BAD],
  ["127.94 °C for lack of power", "ds18b20", { ...ds18b20("28-1", { memory: "ff 07 4b 46 7f ff 0c 10 1c", t: 127937 }), ...SECOND }, BAD],
  ["0 °C of a bus that reads all zeros", "ds18b20", { ...ds18b20("28-1", { memory: "00 00 00 00 00 00 00 00 00", t: 0 }), ...SECOND }, BAD],
  ["85 °C that is measured", "ds18b20 28-1", ds18b20("28-1", { memory: "50 05 4b 46 7f ff 10 10 1c", t: 85000 }), "85"],
  ["0 °C that is measured", "ds18b20 28-1", ds18b20("28-1", { memory: "00 00 4b 46 7f ff 10 10 1c", t: 0 }), "0"],

  ["a BME280", "iio bme280", { ...iio(0, "other", DHT22), ...iio(1, "bme280", BME280) }, '{"humidity": 40.216, "pressure_hPa": 1013.2526, "temperature_C": 21.56}'],
  ["some channels", "iio bme280 pressure humidityrelative", iio(0, "bme280", { ...BME280, in_temp_input: "" }), '{"pressure_hPa": 1013.2526, "humidity": 40.216}'],
  ["a DHT22", "iio dht11", iio(0, "dht11@4", DHT22), '{"humidity": 81, "temperature_C": -3.5}'],
  ["a scale", "iio bh1750", iio(0, "bh1750", { in_illuminance_raw: "120\n", in_illuminance_scale: "0.833333\n" }), '{"light_lux": 100}'],
  ["a scale and an offset", "iio hdc100x", iio(0, "hdc100x", { in_temp_raw: "25800\n", in_temp_scale: "2.517700195\n", in_temp_offset: "-15887.515151\n" }), '{"temperature_C": 24.9567}'],
  ["two named channels that share both", "iio mlx90614", iio(0, "mlx90614", MLX90614), '{"temperature_ambient_C": 24.85, "temperature_object_C": 20.85}'],
  ["numbered channels with a scale each", "iio ads1015", iio(0, "ads1015", { in_voltage0_raw: "1100\n", in_voltage0_scale: "3\n", in_voltage1_raw: "-5\n", in_voltage1_scale: "2\n" }), '{"voltage0_V": 3.3, "voltage1_V": -0.01}'],
  ["numbered channels that share one", "iio ads1115", iio(0, "ads1115", { "in_voltage0-voltage1_raw": "3\n", in_voltage2_supply_raw: "100\n", "in_voltage-voltage_scale": "2\n", in_voltage_scale: "3\n" }), '{"voltage0-voltage1_V": 0.006, "voltage2_supply_V": 0.3}'],
  ["a device with one scale for all", "iio dln2-adc", iio(0, "dln2-adc", { in_voltage0_raw: "1000\n", scale: "3.2\n" }), '{"voltage0_V": 3.2}'],
  ["the same, in another file", "iio one", iio(0, "one", { in_voltage0_raw: "1000\n", in_scale: "3.2\n" }), '{"voltage0_V": 3.2}'],
  ["CO2", "iio scd4x", iio(0, "scd4x", { in_concentration_co2_raw: "845\n", in_concentration_co2_scale: "0.0001\n" }), '{"co2_ppm": 845}'],
  ["a kind without a unit", "iio adxl345", iio(0, "adxl345", { in_accel_x_raw: "250\n", in_accel_y_raw: "-4\n", in_accel_scale: "0.038300\n" }), '{"accel_x": 9.575, "accel_y": -0.1532}'],
  ["an empty file", "iio bme280", iio(0, "bme280", { ...BME280, in_temp_input: "" }), undefined, NO_TEMP],
  ["an unreadable file", "iio bme280", iio(0, "bme280", { ...BME280, in_temp_input: UNREADABLE }), undefined, /in_temp_input: Input\/output error/],
  ["no number", "iio bme280", iio(0, "bme280", { ...BME280, in_temp_input: "oops\n" }), undefined, NO_TEMP],
  ["an empty scale", "iio mlx90614", iio(0, "mlx90614", { ...MLX90614, in_temp_scale: "" }), undefined, NO_AMBIENT],
  ["an unreadable scale", "iio mlx90614", iio(0, "mlx90614", { ...MLX90614, in_temp_scale: UNREADABLE }), undefined, NO_AMBIENT],
  ["an empty offset", "iio mlx90614", iio(0, "mlx90614", { ...MLX90614, in_temp_offset: "" }), undefined, NO_AMBIENT],
  ["an unreadable offset", "iio mlx90614", iio(0, "mlx90614", { ...MLX90614, in_temp_offset: UNREADABLE }), undefined, NO_AMBIENT],
  ["a channel that is missing", "iio bme280 voltage", iio(0, "bme280", BME280), undefined, /in_voltage_raw: No such file/],
  ["two of a name", "iio bme280", TWO_BME280, undefined, /^iio: Several devices are named "bme280": use bus and address$/m],
  ["one of two by its address", "iio 1-0077", TWO_BME280, '{"temperature_C": 2}'],
  ["no device of that name", "iio bme680", TWO_BME280, undefined, /^iio: No device is named "bme680"/m],
  ["no name", "iio", {}, undefined, /^iio: Usage: iio NAME/m],

  ["all", "board", { "/sys/class/thermal/thermal_zone0/temp": "48312\n", "/proc/loadavg": "0.42 0.40\n", "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 512000 kB\n" }, '{"temperature_C": 48.312, "load": 0.42, "free_memory_MB": 524}'],
  ["what can be read", "board", { "/sys/class/thermal/thermal_zone0/temp": UNREADABLE, "/proc/loadavg": "0.00 0.40\n", "/proc/meminfo": "" }, '{"load": 0.00}'],
  ["nothing", "board", { "/sys/class/thermal/thermal_zone0/temp": "" }, undefined, /^board: Nothing in \/sys and \/proc could be read$/m],
];

for (const [what, command, files, line, error = /^$/] of ROWS) {
  Deno.test(`${command}: ${what}`, async () => {
    using unit = await SensorUnit.create(files);
    const printed = await unit.run(`/usr/lib/datasensor/${command}`);
    const expected = line === undefined ? [1, ""] : [0, `${line}\n`];
    assertEquals([printed.code, printed.stdout], expected, printed.stderr);
    const isFailed = line === undefined || error.source !== "^$";
    if (isFailed) assertMatch(printed.stderr, error);
  });
}

/** What "latest" keeps while lines come at some times, and the board's clock is set. */
const CLOCK: [time: string, line: string, kept: string | undefined][] = [
  ["2026-07-01T12:00:00Z", '{"model":"a","id":1}', "a 1"],
  ["2026-07-01T12:59:59Z", '{"model":"b"}', "a 1, b"],
  ["2026-07-01T13:00:00Z", '{"model":"c"}', "b, c"], // after an hour
  ["2026-07-01T13:00:00Z", '{"id":""}', undefined],
  ["2026-08-01T00:00:00Z", '{"model":"d"}', "d"], // set forward
  ["2026-07-01T12:00:00Z", '{"model":"e"}', "e"], // set back
  ["2026-07-01T12:00:01Z", '{"model":"d"}', "e, d"],
];

Deno.test(
  "latest 3600 model id: keeps what came within an hour, in summer time too, and when the clock is set",
  needs({ commands: ["jq"] }),
  async () => {
    const lines = CLOCK.map(([time, line]) =>
      line.replace("{", `{"clock":${Date.parse(time) / 1000},`)
    );
    using unit = await SensorUnit.create({ "/home/lines": lines.join("\n") });
    const { stdout, stderr } = await unit.run(`export TZ=Europe/Berlin
sed -i 's/now as .now/($line | fromjson | .clock) as $now/' /usr/lib/datasensor/latest
/usr/lib/datasensor/latest 3600 model id </home/lines`);
    const printed = stdout.trim().split("\n")
      .map((line) => Object.keys(JSON.parse(line)).join(", "));
    const kept = CLOCK.flatMap(([, , kept]) => kept ?? []);
    assertEquals(printed, kept, stderr);
    assertEquals(stderr.match(/(?<=latest drops ).*(?=")/g), [
      "a 1: its last reading came at 2026-07-01T12:00:00Z",
      "b: its last reading came at 2026-07-01T12:59:59Z",
      "c: its last reading came at 2026-07-01T13:00:00Z",
      "d: its last reading came at 2026-08-01T00:00:00Z",
    ]);
  },
);

Deno.test(
  "latest keeps the newest sensors whose object stays below 60,000 bytes",
  needs({ commands: ["jq"] }),
  async () => {
    const line = (id: number) => JSON.stringify({ id, text: "x".repeat(99) });
    const lines = Array.from({ length: 600 }, (_, id) => line(id));
    using unit = await SensorUnit.create({
      // A line that would displace all of them, and one of the first again
      "/home/lines": [
        ...lines,
        JSON.stringify({ id: "long", text: "x".repeat(50_000) }),
        line(200),
      ].join("\n"),
    });
    const { stdout, stderr } = await unit.run(
      "/usr/lib/datasensor/latest 3600 id </home/lines",
    );
    const printed = stdout.trim().split("\n");
    const kept = Object.keys(JSON.parse(printed.at(-1)!)).map(Number);
    assertEquals(printed.length, 601);
    assert(printed.every((line) => line.length <= 60_000));
    assert(printed.at(-1)!.length > 59_000);
    assertEquals(kept, [...kept].sort((one, other) => one - other)); // by line
    assertEquals([kept.includes(200), kept.at(-1)], [true, 599]);
    assertEquals(
      stderr.match(/^"latest keeps the newest sensors only/gm)?.length,
      1,
    );
    assertMatch(stderr, /^"latest skips .* 50,000 bytes: {\\"id\\":\\"long/m);
  },
);

const READ = "/usr/lib/datasensor/latest 60 id </home/lines";
const LINES = 'oops\n\n5\n["id"]\n{"t":1}\n{"id":3,"t":21.50}\n';

/** Calls of "latest", their status, and their output. */
const LATEST: [
  what: string,
  command: string,
  status: number,
  printed: RegExp,
  error: RegExp,
][] = [
  [
    "keeps a line, and logs the first that it cannot use",
    READ,
    0,
    /^{"3":{"id":3,"t":21.50?,"time":"20.*Z"}}\n$/,
    /^"latest skips a line without these keys, or of 50,000 bytes: oops"\n$/,
  ],
  [
    "says that jq is missing",
    `PATH=/home/bin ${READ}`,
    1,
    /^$/,
    /needs jq: run "sudo apt-get install jq"\n$/,
  ],
  ...["60", "0 id"].map((
    args,
  ): typeof LATEST[number] => [
    `refuses "${args}"`,
    `/usr/lib/datasensor/latest ${args}`,
    2,
    /^$/,
    /^Usage: COMMAND \| \/usr\/lib\/datasensor\/latest SECONDS KEY\.\.\.\n$/,
  ]),
];

for (const [what, command, status, printed, error] of LATEST) {
  Deno.test(`latest ${what}`, needs({ commands: ["jq"] }), async () => {
    using unit = await SensorUnit.create({
      "/home/lines": LINES,
      "/home/bin/bash": "->/bin/bash",
    });

    const { code, stdout, stderr } = await unit.run(command);
    assertEquals(code, status, stderr);
    assertMatch(stdout, printed);
    assertMatch(stderr, error);
  });
}

for (const trap of ["", "trap '' PIPE; "]) {
  const how = trap && ", with SIGPIPE ignored as by systemd";
  Deno.test(`latest ends with the status of jq if that is killed${how}`, async () => {
    const jq = "#!/bin/sh\nkill -KILL $$\n";
    using unit = await SensorUnit.create({ "/usr/local/bin/jq": jq });
    const sensor = `${trap}echo 1 | /usr/lib/datasensor/latest 60 id`;
    await using process = unit.start(sensor);
    assertEquals((await process.waitForEnd()).code, 137);
    assertEquals(process.stderr.match(/foreach/), null);
  });
}
