// deno-lint-ignore-file camelcase -- the keys are names of files

// The package's programs: files like the kernel's or lines in, a line and a status out.

import { assertEquals, assertMatch } from "@std/assert";
import { skipIf } from "../helpers/skip.ts";
import {
  BME280,
  DHT22,
  ds18b20,
  type Files,
  iio,
  inFolder,
  NO_MOUNTS,
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

const MEMORY = "58 01 4b 46 7f ff 0c 10 4c";

/** A second sensor beside one that cannot be used. */
const SECOND = ds18b20("28-2");

const BAD = '{"28-2": 21.5}';
const NO_TEMP = /^iio: Channel "temp" of "bme280" cannot be read$/m;
const NO_AMBIENT =
  /^iio: Channel "temp_ambient" of "mlx90614" cannot be read$/m;

// deno-fmt-ignore -- a row each
const ROWS: Row[] = [
  ["each, and no other family", "ds18b20", { ...ds18b20("10-1"), ...ds18b20("28-1", { t: -3250 }), ...SECOND }, '{"28-1": -3.25, "28-2": 21.5}'],
  ["one", "ds18b20 28-2", { ...ds18b20("28-1"), ...SECOND }, "21.5"],
  ["one that is unplugged", "ds18b20 28-1", SECOND, undefined, /28-1\/w1_slave: No such file/],
  ["one of another family", "ds18b20 10-000802b8f9a1", ds18b20("10-000802b8f9a1", { t: 85000 }), undefined, /^ds18b20: "10-000802b8f9a1" is no DS18B20: their ids begin with 28-$/m],
  ["none", "ds18b20", { "/sys/bus/w1/devices/w1_bus": "" }, undefined, /^No DS18B20 could be read in /m],
  ["an empty file, as after a failed conversion", "ds18b20", { "/sys/bus/w1/devices/28-1/w1_slave": "", ...SECOND }, BAD],
  ["an unreadable file", "ds18b20", { "/sys/bus/w1/devices/28-1/w1_slave": UNREADABLE, ...SECOND }, BAD, /Input\/output error/],
  ["no temperature", "ds18b20", { "/sys/bus/w1/devices/28-1/w1_slave": `${MEMORY} : crc=4c YES\n${MEMORY}\n`, ...SECOND }, BAD],
  ["a wrong checksum", "ds18b20", { ...ds18b20("28-1", { crc: "NO" }), ...SECOND }, BAD],
  ["85 °C after power-on", "ds18b20", { ...ds18b20("28-1", { memory: "50 05 4b 46 7f ff 0c 10 1c", t: 85000 }), ...SECOND }, BAD],
  ["127.94 °C for lack of power", "ds18b20", { ...ds18b20("28-1", { memory: "ff 07 4b 46 7f ff 0c 10 1c", t: 127937 }), ...SECOND }, BAD],
  ["0 °C of a bus that reads all zeros", "ds18b20", { ...ds18b20("28-1", { memory: "00 00 00 00 00 00 00 00 00", t: 0 }), ...SECOND }, BAD],
  ["85 °C that is measured", "ds18b20 28-1", ds18b20("28-1", { memory: "50 05 4b 46 7f ff 10 10 1c", t: 85000 }), "85"],
  ["0 °C that is measured", "ds18b20 28-1", ds18b20("28-1", { memory: "00 00 4b 46 7f ff 10 10 1c", t: 0 }), "0"],

  ["a BME280", "iio bme280", { ...iio(0, "other", DHT22), ...iio(1, "bme280", BME280) }, '{"humidity": 40.216, "pressure_hPa": 1013.25, "temperature_C": 21.56}'],
  ["some channels", "iio bme280 pressure humidityrelative", iio(0, "bme280", { ...BME280, in_temp_input: "" }), '{"pressure_hPa": 1013.25, "humidity": 40.216}'],
  ["a kind without a unit after another", "iio bme280 temp accel_x", iio(0, "bme280", BME280), undefined, /"accel_x" has no unit/],
  ["a DHT22", "iio dht11", iio(0, "dht11@4", DHT22), '{"humidity": 81, "temperature_C": -3.5}'],
  ["a channel with two files", "iio tsl2563", iio(0, "tsl2563", { in_illuminance_input: "100\n", in_illuminance_raw: "7\n" }), '{"light_lux": 100}'],
  ["a scale", "iio bh1750", iio(0, "bh1750", { in_illuminance_raw: "120\n", in_illuminance_scale: "0.833333\n" }), '{"light_lux": 100}'],
  ["a scale and an offset", "iio hdc100x", iio(0, "hdc100x", { in_temp_raw: "25800\n", in_temp_scale: "2.517700195\n", in_temp_offset: "-15887.515151\n" }), '{"temperature_C": 24.9567}'],
  ["two named channels that share both", "iio mlx90614", iio(0, "mlx90614", MLX90614), '{"temperature_ambient_C": 24.85, "temperature_object_C": 20.85}'],
  ["numbered channels with a scale each", "iio ads1015", iio(0, "ads1015", { in_voltage0_raw: "1100\n", in_voltage0_scale: "3\n", in_voltage1_raw: "-5\n", in_voltage1_scale: "2\n" }), '{"voltage0_V": 3.3, "voltage1_V": -0.01}'],
  ["numbered channels that share one", "iio ads1115", iio(0, "ads1115", { "in_voltage0-voltage1_raw": "3\n", in_voltage2_supply_raw: "100\n", "in_voltage-voltage_scale": "2\n", in_voltage_scale: "3\n" }), '{"voltage0-voltage1_V": 0.006, "voltage2_supply_V": 0.3}'],
  ["a device with one scale for all", "iio dln2-adc", iio(0, "dln2-adc", { in_voltage0_raw: "1000\n", scale: "3.2\n" }), '{"voltage0_V": 3.2}'],
  ["the same, in another file", "iio one", iio(0, "one", { in_voltage0_raw: "1000\n", in_scale: "3.2\n" }), '{"voltage0_V": 3.2}'],
  ["numbers near zero", "iio ccs811", iio(0, "ccs811", { in_current_raw: "3\n", in_current_scale: "0.001000\n" }), '{"current_A": 3e-06}'],
  ["a concentration beside others, which is left out", "iio bme680", iio(0, "bme680", { ...DHT22, in_concentration_voc_raw: UNREADABLE }), '{"humidity": 81, "temperature_C": -3.5}'],
  ["nothing but concentrations", "iio sgp30", iio(0, "sgp30", { in_concentration_co2_input: "0.000400\n", in_concentration_voc_input: "0\n" }), undefined, /^iio: "sgp30" measures nothing .* only concentration_co2 concentration_voc: read .*iio:device0 yourself$/m],
  ["a kind without a unit", "iio adxl345 accel_x", iio(0, "adxl345", { in_accel_x_raw: "250\n" }), undefined, /^iio: Channel "accel_x" has no unit that iio knows: /m],
  ["no channel", "iio bme280", iio(0, "bme280", {}), undefined, /^iio: "bme280" measures nothing whose unit iio knows: /m],
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
];

for (const [what, command, files, line, error = /^$/] of ROWS) {
  Deno.test(skipIf(NO_MOUNTS, `${command}: ${what}`), async () => {
    using unit = await SensorUnit.create(files);
    const printed = await unit.run(`/usr/lib/datasensor/${command}`);
    const expected = line === undefined ? [1, ""] : [0, `${line}\n`];
    assertEquals([printed.code, printed.stdout], expected, printed.stderr);
    const isFailed = line === undefined || error.source !== "^$";
    if (isFailed) assertMatch(printed.stderr, error);
  });
}
