// The package's programs that read sensors, on files like the kernel's.

import { assertEquals, assertMatch } from "@std/assert";
import { needs } from "../helpers/needs.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";
import {
  addDevice,
  BH1750,
  BME280,
  DHT22,
  DS18B20,
  formatDs18b20,
  HDC1080,
  MLX90614,
  SensorUnit,
} from "./sensor_unit.ts";

const IIO = "/usr/lib/datasensor/iio";

Deno.test("ds18b20 leaves out a sensor that was unplugged, and ends with 1 without any", async () => {
  using unit = await SensorUnit.create();
  await unit.write(`${DS18B20}/28-1/w1_slave`, formatDs18b20());
  await unit.write(`${DS18B20}/28-2/w1_slave`, formatDs18b20());
  const command = "/usr/lib/datasensor/ds18b20";
  const both = await unit.run(command);
  assertEquals(both, {
    code: 0,
    stdout: '{"28-1": 21.5, "28-2": 21.5}\n',
    stderr: "",
  });
  await unit.remove(`${DS18B20}/28-1`);
  assertEquals((await unit.run(command)).stdout, '{"28-2": 21.5}\n');
  const one = await unit.run(`${command} 28-1`);
  assertEquals([one.code, one.stdout], [1, ""]);
  assertMatch(one.stderr, /28-1\/w1_slave: No such file/);
  await unit.remove(`${DS18B20}/28-2`);
  const none = await unit.run(command);
  assertEquals([none.code, none.stdout], [1, ""]);
  assertMatch(none.stderr, /^No DS18B20 could be read in /m);
});

/** What cannot be used of a DS18B20. */
const BAD_DS18B20: [what: string, text: string | undefined][] = [
  ["is empty, as after a failed conversion", ""],
  ["cannot be read", undefined],
  ["has a wrong checksum", formatDs18b20({ result: "NO" })],
  [
    "says 85 °C after power-on",
    formatDs18b20({ memory: "50 05 4b 46 7f ff 0c 10 1c", t: 85000 }),
  ],
  [
    "says 127.94 °C for lack of power",
    formatDs18b20({ memory: "ff 07 4b 46 7f ff 0c 10 1c", t: 127937 }),
  ],
  [
    "says 0 °C, since its bus reads all zeros",
    formatDs18b20({ memory: "00 00 00 00 00 00 00 00 00", t: 0 }),
  ],
];

for (const [what, text] of BAD_DS18B20) {
  Deno.test(`ds18b20 leaves out a sensor whose file ${what}`, async () => {
    using unit = await SensorUnit.create();
    await unit.write(`${DS18B20}/28-1/w1_slave`, text);
    await unit.write(`${DS18B20}/28-2/w1_slave`, formatDs18b20());
    const { code, stdout } = await unit.run("/usr/lib/datasensor/ds18b20");
    assertEquals([code, stdout], [0, '{"28-2": 21.5}\n']);
  });
}

Deno.test("ds18b20 prints a temperature that is 85 °C, and 0 °C", async () => {
  using unit = await SensorUnit.create();
  const measured = { memory: "50 05 4b 46 7f ff 10 10 1c", t: 85000 };
  await unit.write(`${DS18B20}/28-1/w1_slave`, formatDs18b20(measured));
  const zero = { memory: "00 00 4b 46 7f ff 10 10 1c", t: 0 };
  await unit.write(`${DS18B20}/28-2/w1_slave`, formatDs18b20(zero));
  const command = "/usr/lib/datasensor/ds18b20";
  assertEquals((await unit.run(`${command} 28-1`)).stdout, "85\n");
  assertEquals((await unit.run(`${command} 28-2`)).stdout, "0\n");
});

/** What the kernel knows of a device, and what people read. */
const DEVICES: [
  name: string,
  files: Record<string, string>,
  reading: string,
][] = [
  [
    "bme280",
    BME280,
    '{"humidity": 40.216, "pressure_hPa": 1013.2526, "temperature_C": 21.56}',
  ],
  ["dht11", DHT22, '{"humidity": 81, "temperature_C": -3.5}'],
  ["bh1750", BH1750, '{"light_lux": 100}'],
  ["hdc100x", HDC1080, '{"humidity": 50, "temperature_C": 24.9567}'],
  [
    "ads1015",
    {
      name: "ads1015\n",
      in_voltage0_raw: "1100\n",
      in_voltage1_raw: "-5\n",
      "in_voltage0-voltage1_raw": "3\n",
      in_voltage0_scale: "3\n",
      in_voltage1_scale: "3\n",
      "in_voltage0-voltage1_scale": "2\n",
    },
    '{"voltage0-voltage1_V": 0.006, "voltage0_V": 3.3, "voltage1_V": -0.015}',
  ],
  [
    "mcp3208",
    { name: "mcp3208\n", in_voltage7_raw: "2000\n", in_voltage_scale: "1.5\n" },
    '{"voltage7_V": 3}',
  ],
  [
    "scd4x",
    {
      name: "scd4x\n",
      in_concentration_co2_raw: "845\n",
      in_concentration_co2_scale: "0.0001\n",
    },
    '{"co2_ppm": 845}',
  ],
  [
    "mlx90614",
    MLX90614,
    '{"temperature_ambient_C": 24.85, "temperature_object_C": 20.85}',
  ],
  [
    "adxl345",
    {
      name: "adxl345\n",
      in_accel_x_raw: "250\n",
      in_accel_y_raw: "-4\n",
      in_accel_scale: "0.038300\n",
    },
    '{"accel_x": 9.575, "accel_y": -0.1532}',
  ],
  [
    "ads1115",
    {
      name: "ads1115\n",
      "in_voltage0-voltage1_raw": "3\n",
      in_voltage2_supply_raw: "100\n",
      "in_voltage-voltage_scale": "2\n",
      in_voltage_scale: "3\n",
    },
    '{"voltage0-voltage1_V": 0.006, "voltage2_supply_V": 0.3}',
  ],
  [
    "dln2-adc",
    { name: "dln2-adc\n", in_voltage0_raw: "1000\n", scale: "3.2\n" },
    '{"voltage0_V": 3.2}',
  ],
  [
    "one-scale",
    { name: "one-scale\n", in_voltage0_raw: "1000\n", in_scale: "3.2\n" },
    '{"voltage0_V": 3.2}',
  ],
];

for (const [name, files, reading] of DEVICES) {
  Deno.test(`iio prints ${name} in the units that people use`, async () => {
    using unit = await SensorUnit.create();
    await addDevice(unit, 0, { name: "other\n", in_temp_input: "99000\n" });
    await addDevice(unit, 1, files);
    const printed = await unit.run(`${IIO} ${name}`);
    assertEquals(printed, { code: 0, stdout: `${reading}\n`, stderr: "" });
  });
}

/** What cannot be used of a BME280, and what iio says. */
const BAD_IIO: [what: string, text: string | undefined, error: RegExp][] = [
  ["is empty", "", /Channel "temp" of "bme280" cannot be read/],
  ["cannot be read", undefined, /in_temp_input: Input\/output error/],
  ["is no number", "oops\n", /Channel "temp" of "bme280" cannot be read/],
];

for (const [what, text, error] of BAD_IIO) {
  Deno.test(`iio prints nothing if a file of its device ${what}, except other channels`, async () => {
    using unit = await SensorUnit.create();
    await addDevice(unit, 0, { ...BME280, in_temp_input: text });
    const { code, stdout, stderr } = await unit.run(`${IIO} bme280`);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, error);
    const others = await unit.run(`${IIO} bme280 pressure humidityrelative`);
    const reading = '{"pressure_hPa": 1013.2526, "humidity": 40.216}\n';
    assertEquals(others, { code: 0, stdout: reading, stderr: "" });
  });
}

for (const file of ["in_temp_scale", "in_temp_offset"]) {
  for (const text of ["", undefined]) {
    const what = text === undefined ? "cannot be read" : "is empty";
    Deno.test(`iio prints no raw number if ${file} ${what}`, async () => {
      using unit = await SensorUnit.create();
      await addDevice(unit, 0, { ...MLX90614, [file]: text });
      const { code, stdout, stderr } = await unit.run(`${IIO} mlx90614`);
      assertEquals([code, stdout], [1, ""]);
      assertMatch(stderr, /Channel "temp_ambient" of "mlx90614" cannot be/);
    });
  }
}

Deno.test("iio prints what a device without a channel measures, and says that a named one is missing", async () => {
  using unit = await SensorUnit.create();
  const { in_humidityrelative_input: _, ...bmp280 } = BME280;
  await addDevice(unit, 0, { ...bmp280, name: "bmp280\n" });
  const { stdout } = await unit.run(`${IIO} bmp280`);
  assertEquals(stdout, '{"pressure_hPa": 1013.2526, "temperature_C": 21.56}\n');
  const missing = await unit.run(`${IIO} bmp280 humidityrelative`);
  assertEquals([missing.code, missing.stdout], [1, ""]);
  assertMatch(missing.stderr, /in_humidityrelative_raw: No such file/);
});

Deno.test("iio tells two devices of the same name apart by their addresses, and says so", async () => {
  using unit = await SensorUnit.create();
  await addDevice(unit, 6, { ...BME280, in_temp_input: "1000\n" });
  await addDevice(unit, 7, { ...BME280, in_temp_input: "2000\n" });
  const both = await unit.run(`${IIO} bme280`);
  assertEquals([both.code, both.stdout], [1, ""]);
  assertMatch(both.stderr, /Several devices .* use bus and address/);
  const second = await unit.run(`${IIO} 1-0077 temp`);
  assertEquals(second.stdout, '{"temperature_C": 2}\n');
  const none = await unit.run(`${IIO} bme680`);
  assertEquals([none.code, none.stdout], [1, ""]);
  assertEquals(none.stderr, 'iio: No device is named "bme680"\n');
});

Deno.test("board leaves out what is missing, empty or unreadable, and logs only that nothing is left", async () => {
  using unit = await SensorUnit.create();
  const zone = "/sys/class/thermal/thermal_zone0/temp";
  const command = "/usr/lib/datasensor/board";
  const none = await unit.run(command);
  assertEquals(none, {
    code: 1,
    stdout: "",
    stderr: "board: Nothing in /sys and /proc could be read\n",
  });
  await unit.write("/proc/loadavg", "0.00 0.40 0.39 1/123 4567\n");
  await unit.write("/proc/meminfo", "");
  const load = { code: 0, stdout: '{"load": 0.00}\n', stderr: "" };
  assertEquals(await unit.run(command), load);
  await unit.write(zone, "");
  assertEquals(await unit.run(command), load);
  await unit.remove(zone);
  await unit.write(zone, undefined);
  assertEquals(await unit.run(command), load);
});

/** Starts one of the programs, which reads lines. */
function startFilter(unit: SensorUnit, command: string): Process {
  const args = ["-c", unit.adapt(command)];
  return new Process("sh", args, { hasInput: true, killGroup: true });
}

/** What "latest" keeps while the board's clock changes. */
const CLOCK: [time: string, model: string, kept: string[]][] = [
  ["2026-07-01T12:00:00Z", "a", ["a"]],
  ["2026-07-01T12:59:59Z", "b", ["a", "b"]],
  ["2026-07-01T13:00:00Z", "c", ["b", "c"]], // after an hour
  ["2026-08-01T00:00:00Z", "d", ["d"]], // set forward
  ["2026-07-01T12:00:00Z", "e", ["e"]], // set back
  ["2026-07-01T12:00:01Z", "d", ["e", "d"]],
];

Deno.test(
  "latest drops sensors that were silent for an hour, in summer time too, and when the clock is set",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    const lines = CLOCK.map(([time, model]) =>
      JSON.stringify({ model, clock: Date.parse(time) / 1000 })
    );
    const change = "s/now as .now/($line | fromjson | .clock) as $now/";
    const { stdout, stderr } = await unit.run(
      `export TZ=Europe/Berlin
sed -i '${change}' /usr/lib/datasensor/latest
echo '${lines.join("\n")}' | /usr/lib/datasensor/latest 3600 model`,
    );
    const kept = stdout.trim().split("\n")
      .map((line) => Object.keys(JSON.parse(line)));
    assertEquals(kept, CLOCK.map(([, , models]) => models), stderr);
  },
);

Deno.test(
  "latest logs a line that it cannot use, but not each, and needs a whole usage",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    const latest = "/usr/lib/datasensor/latest";
    await using filter = startFilter(unit, `${latest} 60 id`);
    await filter.write('oops\n\n5\n["id"]\n{"t":1}\n{"id":3,"t":21.50}\n');
    await filter.waitForMatch(/\n/);
    const kept = JSON.parse(filter.stdout);
    assertMatch(kept[3].time, /^20.*Z$/);
    assertEquals(kept, { 3: { id: 3, t: 21.5, time: kept[3].time } });
    await filter.endInput();
    await filter.waitForEnd();
    assertEquals(
      filter.stderr,
      '"latest skips a line without these keys: oops"\n',
    );
    for (const args of ["", "60", "x id", "'' id", "0 id"]) {
      const { code, stderr } = await unit.run(`${latest} ${args}`);
      assertEquals(code, 2);
      assertMatch(stderr, /^Usage: COMMAND \| .*latest SECONDS KEY\.\.\.\n$/);
    }
  },
);

Deno.test(
  "merge keeps programs with the same keys apart, until one ends or is silent, logs what it cannot use, and starts one again",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    await unit.writeProgram(
      "/usr/local/bin/ends",
      "#!/bin/sh\necho '{\"t\":1}'; echo; echo oops; read line </home/ends\n",
    );
    const control = unit.adapt("/home/ends");
    await unit.write("/home/pi/x", "");
    await unit.run("mkfifo /home/ends");
    // The pause before a program starts again
    await unit.run("sed -i 's/sleep 15/sleep 0.1/' /usr/lib/datasensor/merge");
    const silent = 'echo "{\\"t\\":3}"; exec sleep 1000';
    await using merge = startFilter(
      unit,
      `/usr/lib/datasensor/merge 2 a='while echo 2; do sleep 0.2; done' silent='${silent}' ends=/usr/local/bin/ends`,
    );
    const names = () => {
      const line = merge.stdout.trim().split("\n").at(-1) || "{}";
      return Object.keys(JSON.parse(line)).sort().join();
    };
    await waitFor("all", names, (names) => names === "a,ends,silent");
    const line = merge.stdout.trim().split("\n").at(-1)!;
    const { a, ends, silent: quiet } = JSON.parse(line);
    assertEquals([a.value, ends.value, quiet.value], [2, { t: 1 }, { t: 3 }]);
    assertMatch(a.time, /^20.*Z$/);
    await waitFor("one", names, (names) => names === "a");
    await Deno.writeTextFile(control, "end\n");
    await waitFor("two", names, (names) => names === "a,ends");
    assertMatch(merge.stderr, /"ends" ended with status 0, and starts again/);
    const skips = merge.stderr.match(
      /skips a line that is not JSON: ends=oops/g,
    );
    assertEquals(skips?.length, 1, merge.stderr);
    const { code, stderr } = await unit.run(
      "/usr/lib/datasensor/merge 2 'a b=c'",
    );
    assertEquals(code, 2);
    assertMatch(stderr, /^Usage: .*merge SECONDS NAME=COMMAND\.\.\.\n$/);
  },
);

Deno.test(
  "merge drops the value of a program at once when it ends, and its own when all have ended",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    await using merge = startFilter(
      unit,
      "/usr/lib/datasensor/merge 60 once='echo 1'",
    );
    await merge.waitForMatch(/{}\n/);
    assertMatch(merge.stdout, /^{"once":{"value":1,"time":"20.*Z"}}\n{}\n$/);
  },
);

Deno.test(
  "merge drops an unfinished line, and the value of a program that ends with one",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    await using merge = startFilter(
      unit,
      "/usr/lib/datasensor/merge 60 once='echo 1; printf 2'",
    );
    await merge.waitForMatch(/{}\n/);
    assertMatch(merge.stdout, /^{"once":{"value":1,"time":"20.*Z"}}\n{}\n$/);
    assertMatch(merge.stderr, /^merge: "once" ended with status 0.*\n$/);
  },
);

Deno.test(
  "merge that is ended by hand ends its programs too",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    const run = "exec /usr/lib/datasensor/merge 60";
    await using merge = startFilter(
      unit,
      `${run} a='echo 1; exec sleep 1000' b='sleep 1000; echo 2'`,
    );
    await merge.waitForMatch(/{"a"/);
    await merge.stop();
    const running = ["-r", "R,S,D,T", "-g", `${merge.pid}`]; // zombies have ended
    const { code } = await output("pgrep", running);
    assertEquals(code, 1);
  },
);

/** What serves nothing without jq. systemd runs it with SIGPIPE ignored. */
const NEEDS_JQ: [name: string, sensor: string][] = [
  ["latest", "echo '{\"id\": 1}' | /usr/lib/datasensor/latest 60 id"],
  ["merge", "/usr/lib/datasensor/merge 60 a='echo 1; sleep 1000'"],
];

for (const [name, sensor] of NEEDS_JQ) {
  for (const trap of ["", "trap '' PIPE; "]) {
    const how = trap && ", with SIGPIPE ignored";
    Deno.test(`${name} ends with the status of jq if that is killed${how}`, async () => {
      using unit = await SensorUnit.create();
      const jq = "#!/bin/sh\nkill -KILL $$\n";
      await unit.writeProgram("/usr/local/bin/jq", jq);
      await using process = unit.start(trap + sensor);
      await process.waitForMatch(/^<4>The sensor ended with status 137\n/m);
      // Without systemd, what merge has started goes on, and keeps the output open
      assertEquals((await process.ended).code, 137);
      assertEquals(process.stderr.match(/foreach/), null);
    });
  }
}

for (const name of ["latest", "merge"]) {
  Deno.test(`${name} says that jq is missing`, async () => {
    using unit = await SensorUnit.create();
    await unit.run("mkdir -p /home/bin && ln -s /bin/sh /bin/bash /home/bin");
    const command = `PATH=/home/bin /usr/lib/datasensor/${name} 60 a=b`;
    const { code, stdout, stderr } = await unit.run(`unset x; ${command}`);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /needs jq: run "sudo apt-get install jq"\n$/);
  });
}
