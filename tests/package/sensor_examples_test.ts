// The sensor of the settings file and the examples beside it, run as the sensor's unit runs
// them: files like the kernel's, and programs that stand in for others, in; lines out.
// tests/board runs the others: that of devices that send over HTTP, that of a file to which a
// program adds, and sensors.sh.

import { assertEquals } from "@std/assert";
import { parseCommand } from "../../src/process/command_line.ts";
import { Machine, testOnMachine } from "../helpers/machine.ts";

const BOARD = "src/board";
const [SETTINGS, EXAMPLES, SCRIPT, GUIDE] = await Promise.all(
  ["package/etc/default/datasensor", "examples.conf", "sensors.sh", "README.md"]
    .map((file) => Deno.readTextFile(`${BOARD}/${file}`)),
);

/** What rtl_433 prints for a sensor, and for a tyre, after a line that is no JSON. */
const HEARD =
  `{"time" : "2026-11-22 19:00:00", "id" : 42, "model" : "Nexus-TH", "channel" : 1, "temperature_C" : 21.5}
{"time" : "2026-11-22 19:00:02", "model" : "Toyota", "type" : "TPMS", "id" : "f4", "temperature_C" : 22}
`;

/** Topics of MQTT with messages, and what is printed of them. */
const MESSAGES =
  `tele/plug/SENSOR {"ENERGY":{"Power":5,"Today":null},"name":"forged"} -> {"ENERGY":{"Power":5,"Today":null},"name":"plug"}
tele/den/SENSOR {"DHT11":{"Temperature":null},"TempUnit":"C"}
tele/attic/plug/SENSOR 0 -> {"value":0,"name":"tele/attic/plug/SENSOR"}
plug/tele/lamp/SENSOR {"door":"open"} -> {"door":"open","name":"plug/tele/lamp/SENSOR"}
attic/sensor/air/state 2 -> {"air":2,"name":"attic/air"}
attic/sensor/name/state 3 -> {"value":3,"name":"attic/sensor/name/state"}
attic/sensor/air/state 4}{"name":"forged"
attic/sensor/air/state {"t":"${"x".repeat(4070)}"}
home/attic/sensor/air/state 5 -> {"value":5,"name":"home/attic/sensor/air/state"}
home/ 6 -> {"value":6,"name":"home/"}
/a//Küche {"pin_code":"7"} -> {"pin_code":"7","name":"/a//Küche"}
zigbee2mqtt/attic/door {"contact":false,"x":null} -> {"contact":false,"x":null,"name":"zigbee2mqtt/attic/door"}
a nan
a {"t":nan}
a ON
a [8]
a {"name":"x","y":{}}
`;

const IIO = "/sys/bus/iio/devices/iio:device0";
const BIN = "/usr/local/bin";
const DRY = '{"temperature_C":20,"humidity":0}\n';
const HUMID = '{"temperature_C":20,"humidity":50}\n';
const print = (text: string) => `#!/bin/sh\ncat <<'END'\n${text}END\n`;

/** Files of sensors, and programs that stand in for those of the examples. */
const FILES = {
  "/home/pi/venv/bin/python": print("8\n"),
  "/sys/class/thermal/thermal_zone0/temp": "48312\n",
  "/sys/bus/w1/devices/28-0000075a1b2c/w1_slave":
    "58 01 4b 46 7f ff 0c 10 4c : crc=4c YES\n58 01 4b 46 7f ff 0c 10 4c t=21500\n",
  [`${IIO}/in_temp_input`]: "21560\n",
  [`${IIO}/in_temp_raw`]: "25000\n",
  [`${IIO}/in_temp_offset`]: "-15000.000000\n",
  [`${IIO}/in_temp_scale`]: "2.500000\n",
  [`${IIO}/in_humidityrelative_input`]: "40216\n",
  [`${IIO}/in_pressure_input`]: "101.325000000\n",
  [`${IIO}/in_illuminance_raw`]: "121\n",
  [`${IIO}/in_illuminance_scale`]: "0.833333\n",
  [`${BIN}/curl`]:
    `#!/bin/sh\nprintf '{"id":100,"tC":%s}' 21.5 'null,"tF":null,"errors":["read"]'`,
  // Readings with time stamps that are right, old, in milliseconds, missing, or texts
  [`${BIN}/gateway`]:
    `#!/bin/sh\nprintf '{"t":%s,"last_updated_ts":%s}\n' 1 $(date +%s) 2 $(($(date +%s) - 400)) 3 $(date +%s000) 4 null 5 '"2099-01-01"'`,
  [`${BIN}/gpiofind`]: "#!/bin/sh\n[ $1 = GPIO17 ] && echo gpiochip0 17\n",
  [`${BIN}/gpioget`]: '#!/bin/sh\nmkdir "/run/$*" && echo 1\n',
  "/sys/bus/platform/devices/raspberrypi-hwmon/hwmon/hwmon2/in0_lcrit_alarm":
    "1\n",
  [`${BIN}/hygrometer`]: print(DRY + HUMID),
  [`${BIN}/my-sensor`]: print('{"t": nan}\n{"t":\n[0, -1]}\n'),
  [`${BIN}/mosquitto_sub`]: print(MESSAGES.replaceAll(
    /^(\S+) (.*?)( -> .*)?$/gm,
    (_, topic, payload) => JSON.stringify({ topic, payload }),
  )),
  [`${BIN}/rtl_433`]: print(`rtl_433 22.11\n${HEARD}`),
  [`${BIN}/sensors`]: print(
    '{\n "sht3x-i2c-1-44":{ "temp1":{ "temp1_input": 21.5 } }\n}\n',
  ),
  [`${BIN}/stty`]: "#!/bin/sh\n", // the port is a file here
  "/home/pi/usb-Arduino-if00":
    "0.2\n21.5,40.2\n\n -1.5 , 0\nnan,40\nTemperature:21.5,Humidity:nan\n Air temp : 1 , Dew: 2\n",
  [`${BIN}/thermometer`]: print(
    '{"temperature_C": nan}\nno JSON\n{"temperature_C": 1e999}\n{"temperature_C": 2.1, "humidity": nan}\n{"temperature_C": 2.35}\n',
  ),
};

/** A part of each sensor, and the lines that it prints, in the order of their texts. */
const PRINTED: Record<string, string> = {
  "awk": "48.312",
  "^jq -c '{temperature_C": '{"temperature_C":48.312}',
  "lib/datasensor/ds18b20$": '{"id": "28-0000075a1b2c", "temperature_C": 21.5}',
  "ds18b20 28-\\w+$": "21.5",
  "temperature_F": '{"temperature_F":70.7}',
  "tank": '{"id":"tank","temperature_C":21.5}',
  "1000\\)}' in_temp_input in_humidityrelative_input$":
    '{"temperature_C":21.56,"humidity":40.216}',
  "in_pressure_input":
    '{"temperature_C":21.56,"humidity":40.216,"pressure_hPa":1013.25}',
  "in_illuminance_raw": '{"light_lux":100.8}',
  "in_temp_offset": '{"temperature_C":25}',
  "sed 1d\\) <\\S+$":
    "\n -1.5 , 0\n Air temp : 1 , Dew: 2\n21.5,40.2\nTemperature:21.5,Humidity:nan\nnan,40",
  "select\\(length == 2\\)":
    '{"temperature_C":-1.5,"humidity":0}\n{"temperature_C":21.5,"humidity":40.2}',
  "add // empty": '{"Air temp":1,"Dew":2}\n{"Temperature":21.5}',
  "gpioget .*gpiofind": '{"door":true}',
  "gpioget .* --numeric GPIO17;": '{"door":true}',
  "under_voltage": '{"under_voltage":true}',
  "^sensors -j": '{"sht3x-i2c-1-44":{"temp1":{"temp1_input":21.5}}}',
  "^curl .*echo$":
    '{"id":100,"tC":21.5}{"id":100,"tC":null,"tF":null,"errors":["read"]}',
  "^curl .*jq": '{"temperature_C":21.5}\n{"temperature_C":null}',
  "^gateway": "1",
  "TPMS": JSON.stringify(JSON.parse(HEARD.split("\n")[0]!)),
  "Nexus": JSON.stringify(JSON.parse(HEARD.split("\n")[0]!)),
  "mqtt$": MESSAGES.match(/(?<= -> ).*/g)!.sort().join("\n"),
  "^find": "7",
  "my-sensor . sed": '{"t":[0,-1]}\n{"t":null}',
  "-= 2.1": '{"temperature_C":0.25}',
  "thermometer .* round": '{"temperature_C":2.4}',
  "dew_point": DRY + HUMID.replace("}\n", ',"dew_point_C":9.26}'),
  " paste ": '[0, -1]}\n{"t": nan}\t{"t":',
  "venv": "8",
};

Deno.test("the flags of the settings file and the examples are valid", () => {
  const files = [SETTINGS, EXAMPLES, SCRIPT].join("\n");
  const flags = files.match(/(?<=^(# {3})?FLAGS=).*$/gm)!;
  for (const line of flags) {
    const { kind } = parseCommand(["--stdin", ...line.split(" ")]);
    assertEquals(kind, "serve", line);
  }
});

const test = await testOnMachine("jq");

test("each example prints what its sensor says", async () => {
  await using machine = await Machine.start(FILES);
  await machine.type(
    "mkdir /run/reading.json; cd /run/reading.json; echo 6 >old; echo 7 >new; echo 8 >tomorrow; touch -d '3 min ago' old; touch -d tomorrow tomorrow .",
  );
  // They avoid backslashes, which systemd would remove
  const sensors = `${SETTINGS}\n${EXAMPLES}`.match(/(?<=^SENSOR=).*/gm)!;
  const [filter] = GUIDE!.match(/jq .*select\(now .*(?=`)/)!;
  sensors.push(`gateway | ${filter} | jq .t`);
  for (const [pattern, lines] of Object.entries(PRINTED)) {
    const found = sensors.filter((sensor) => RegExp(pattern).test(sensor));
    assertEquals(found.length, 1, `Sensors that match ${pattern}: ${found}`);
    const command = found[0]!.replace("/dev/serial/by-id", "/home/pi");
    await using sensor = machine.startSensor(command);
    await sensor.waitForEnd();
    const printed = sensor.stdout.trimEnd().split("\n").sort().join("\n");
    assertEquals(printed, lines, sensor.stderr);
  }
});
