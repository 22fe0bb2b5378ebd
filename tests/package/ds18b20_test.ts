// The program for DS18B20: files like the kernel's in, a line and a status out.

import { assertEquals, assertMatch } from "@std/assert";
import {
  ds18b20,
  type Files,
  Machine,
  missingMachine,
  UNREADABLE,
} from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";

/** Arguments and files, and what is printed. Without a line, it ends with 1. */
type Row = [
  what: string,
  id: string,
  files: Files,
  line: string | undefined,
  error?: RegExp,
];

/** A second sensor beside one that cannot be used. */
const SECOND = ds18b20("28-2");

const BAD = '{"28-2": 21.5}';

// deno-fmt-ignore -- a row each
const ROWS: Row[] = [
  ["each, and no other family", "", { ...ds18b20("10-1"), ...ds18b20("28-1", { t: -3250 }), ...SECOND }, '{"28-1": -3.25, "28-2": 21.5}'],
  ["one", "28-2", { ...ds18b20("28-1"), ...SECOND }, "21.5"],
  ["one that is unplugged", "28-1", SECOND, undefined, /28-1\/w1_slave: No such file/],
  ["a pattern", "'28-*'", SECOND, undefined, /'28-\*\/w1_slave': No such file/],
  ["one of another family", "10-000802b8f9a1", ds18b20("10-000802b8f9a1", { t: 85000 }), undefined, /^ds18b20: "10-000802b8f9a1" is no DS18B20: their ids begin with 28-$/m],
  ["none", "", { "/sys/bus/w1/devices/w1_bus": "" }, undefined, /^No DS18B20 could be read in /m],
  ["an empty file, as after a failed conversion", "", { "/sys/bus/w1/devices/28-1/w1_slave": "", ...SECOND }, BAD],
  ["an unreadable file", "", { "/sys/bus/w1/devices/28-1/w1_slave": UNREADABLE, ...SECOND }, BAD, /Input\/output error/],
  ["no temperature", "", { "/sys/bus/w1/devices/28-1/w1_slave": `58 01 : crc=4c YES\n58 01\n`, ...SECOND }, BAD],
  ["a wrong checksum", "", { ...ds18b20("28-1", { crc: "NO" }), ...SECOND }, BAD],
  ["85 °C after power-on", "", { ...ds18b20("28-1", { memory: "50 05 4b 46 7f ff 0c 10 1c", t: 85000 }), ...SECOND }, BAD],
  ["127.94 °C for lack of power", "", { ...ds18b20("28-1", { memory: "ff 07 4b 46 7f ff 0c 10 1c", t: 127937 }), ...SECOND }, BAD],
  ["0 °C of a bus that reads all zeros", "", { ...ds18b20("28-1", { memory: "00 00 00 00 00 00 00 00 00", t: 0 }), ...SECOND }, BAD],
  ["85 °C that is measured", "28-1", ds18b20("28-1", { memory: "50 05 4b 46 7f ff 10 10 1c", t: 85000 }), "85"],
  ["0 °C that is measured", "28-1", ds18b20("28-1", { memory: "00 00 4b 46 7f ff 10 10 1c", t: 0 }), "0"],
];

for (const [what, id, files, line, error = /^$/] of ROWS) {
  Deno.test(skipIf(missingMachine(), `ds18b20 ${id}: ${what}`), async () => {
    await using machine = await Machine.start(files);
    const command = `/usr/lib/datasensor/ds18b20 ${id}`;
    await using sensor = machine.startSensor(command);
    const { code } = await sensor.waitForEnd();
    const expected = line === undefined ? [1, ""] : [0, `${line}\n`];
    assertEquals([code, sensor.stdout], expected, sensor.stderr);
    assertMatch(sensor.stderr, error);
  });
}
