// The program for DS18B20: files like the kernel's in, a line and a status out.

import { assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";

const SCRIPT = await Deno.readTextFile(
  "src/board/package/usr/lib/datasensor/ds18b20",
);

/** Returns the text of a sensor's file, by default of one that has measured 21.5 °C. */
const w1 = (t = "21500", memory = "58 01 4b 46 7f ff 0c 10 4c", crc = "YES") =>
  `${memory} : crc=4c ${crc}\n${memory} t=${t}\n`;

const UNREADABLE = "A file whose reads fail with EIO";
// Bytes of memory, of which the sixth tells whether a temperature is measured
const [UNMEASURED, UNPOWERED, ZEROS, HOT, HOT80, COLD] = [
  "50 05 4b 46 7f ff 0c 10 1c",
  "ff 07 4b 46 7f ff 0c 10 1c",
  "00 00 00 00 00 00 00 00 00",
  "50 05 4b 46 7f ff 10 10 1c",
  "00 05 4b 46 7f ff 0c 10 1c",
  "00 00 4b 46 7f ff 10 10 1c",
];

/** The id asked for and each sensor's file, the line, and what is printed as an error. */
type Row = [id: string, files: Record<string, string>, line: string, RegExp?];

/** What is printed of two sensors. */
const COLDER = '{"id": "28-1", "temperature_C": -3.25}';
const OTHER = '{"id": "28-2", "temperature_C": 21.5}';
const ALL = { "10-1": w1(), "28-1": w1("-3250"), "28-2": w1() };
const NO_DS18B20 = /^ds18b20: "10-1" is no DS18B20: their ids begin with 28-$/m;

const ROWS: Record<string, Row> = {
  "each, and no other family": ["", ALL, `${COLDER}\n${OTHER}`],
  "one": ["28-2", ALL, "21.5"],
  "one that is unplugged": ["28-3", ALL, "", /28-3\/w1_slave: No such/],
  "a pattern": ["28-*", ALL, "", /28-\*\/w1_slave'?: No such/],
  "one of another family": ["10-1", ALL, "", NO_DS18B20],
  "none": ["", {}, "", /^No DS18B20 could be read in /m],
  "an empty file, as after a failed conversion": ["", { "28-1": "" }, OTHER],
  "an unreadable file": ["", { "28-1": UNREADABLE }, OTHER, /Input.output err/],
  "no temperature": ["", { "28-1": "58 01 : crc=4c YES\n58 01\n" }, OTHER],
  "a wrong checksum": ["", { "28-1": w1("21500", HOT, "NO") }, OTHER],
  "85 °C after power-on": ["", { "28-1": w1("85000", UNMEASURED) }, OTHER],
  "127.94 °C without power": ["", { "28-1": w1("127937", UNPOWERED) }, OTHER],
  "0 °C of a bus that reads all zeros": ["", { "28-1": w1("0", ZEROS) }, OTHER],
  "85 °C that is measured": ["28-1", { "28-1": w1("85000", HOT) }, "85"],
  "80 °C that is measured": ["28-1", { "28-1": w1("80000", HOT80) }, "80"],
  "0 °C that is measured": ["28-1", { "28-1": w1("0", COLD) }, "0"],
};

for (const [what, [id, files, line, error = /^$/]] of Object.entries(ROWS)) {
  Deno.test(`ds18b20 ${id}: ${what}`, async () => {
    using devices = await Folder.create();
    await devices.write("w1_bus/w1_slave", "");
    if (line === OTHER) await devices.write("28-2/w1_slave", w1());
    for (const [sensor, text] of Object.entries(files)) {
      const file = `${sensor}/w1_slave`;
      await devices.write(file, text);
      if (text !== UNREADABLE) continue;
      await Deno.remove(`${devices.path}/${file}`);
      await Deno.symlink("/proc/self/mem", `${devices.path}/${file}`);
    }
    const script = SCRIPT.replace("/sys/bus/w1/devices", devices.path);
    const args = ["-c", script, "sh", ...id ? [id] : []];
    const { code, stdout, stderr } = await output("sh", args);
    assertEquals([code, stdout], line ? [0, `${line}\n`] : [1, ""], stderr);
    assertMatch(stderr, error);
  });
}
