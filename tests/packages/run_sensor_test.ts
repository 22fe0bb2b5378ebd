// What runs the sensor in its unit. tests/board runs it under systemd.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { guide, readme } from "../helpers/guide.ts";
import { needs } from "../helpers/needs.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";
import { SensorUnit } from "./sensor_unit.ts";

const LOOP = "while echo 1; do sleep 0.2; done";

/** A script in Python, which reads and prints lines. */
const ADD_3 = "import sys\nfor line in sys.stdin: print(int(line) + 3)";

/** Usual filters, as users write them, and what they make of a line with 1. */
const FILTERS: [filter: string, printed: string][] = [
  ["sed s/1/21/", "21"],
  ["grep -v 85", "1"],
  ["cut -c 1-3", "1"],
  ["tr 1 2", "2"],
  ["jq -c '. + 1'", "2"],
  [guide.match(/(?<=`)awk -W interactive .*?(?=`)/)[0], "1"],
  [guide.match(/(?<=`)perl -pe .*?(?=`)/)[0], "1"],
  [`python3 -c '${ADD_3}'`, "4"],
];

for (const [filter, printed] of FILTERS) {
  const [name] = filter.split(" ");
  Deno.test(
    `each line of "… | ${filter.split("\n")[0]}" arrives at once`,
    needs({ commands: [name!, "jq"] }),
    async () => {
      using unit = await SensorUnit.create();
      await using sensor = unit.start(`${LOOP} | ${filter}`);
      await sensor.waitForMatch(RegExp(`^${printed}\n`));
    },
  );
}

const [UNBUFFERED_PYTHON] = readme.match(/(?<=`)python3 -u(?=`)/);
const [UNBUFFERED_AWK] = readme.match(/(?<=`)awk -W\s+interactive(?=`)/);
const [UNBUFFERED] = readme.match(/(?<=`)stdbuf -oL(?=`)/);
const [COMPACT] = readme.match(/(?<=`\| )jq -c --unbuffered \.(?=`)/);

/** What README and guide say to do in a pipe without the unit, and what is then printed. */
const WITHOUT_UNIT: [filter: string, printed: string][] = [
  [`${UNBUFFERED_AWK} '{ print $1 }'`, "1"],
  [guide.match(/(?<=`)perl -pe .*?(?=`)/)[0], "1"],
  [`${UNBUFFERED_PYTHON} -c '${ADD_3}'`, "4"],
  [`${UNBUFFERED} cut -c 1-4`, "1"],
  [`sed -u 's/.*/[\\n&\\n]/' | ${COMPACT}`, "\\[1\\]"], // over three lines
];

for (const [filter, printed] of WITHOUT_UNIT) {
  const [name] = filter.split(" ");
  Deno.test(
    `each line of "… | ${
      filter.split("\n")[0]
    }" arrives at once without the unit`,
    needs({ commands: [name!] }),
    async () => {
      const args = ["-c", `${LOOP} | ${filter}`];
      const env = { PYTHONUNBUFFERED: "" };
      await using sensor = new Process("sh", args, { killGroup: true, env });
      await sensor.waitForMatch(RegExp(`^${printed}\n`));
    },
  );
}

Deno.test(
  "each line of several filters arrives at once",
  needs({ commands: ["jq"] }),
  async () => {
    using unit = await SensorUnit.create();
    const filters = "sed s/1/12/ | cut -c 2 | tr 2 7 | jq -c .+1 | grep -v 9";
    await using sensor = unit.start(`${LOOP} | ${filters}`);
    await sensor.waitForMatch(/^8\n/);
  },
);

/** How a sensor ends, with which status, and what the journal then says. */
const ENDS: [what: string, sensor: string, status: number, log: RegExp][] = [
  [
    "ends with 0",
    "echo 1",
    1,
    /ended with status 0\. .* repeat it: SENSOR=while/,
  ],
  ["fails", "echo 1; exit 3", 3, /ended with status 3\n/],
  ["is not executable", "/home/script", 126, /Permission denied\n.*chmod \+x/],
  ["does not exist", "no_such_command", 127, /not found\n.* is it installed/],
  ["is killed", "kill -KILL $$", 137, /ended with status 137\n/],
];

for (const [what, command, status, log] of ENDS) {
  Deno.test(`run-sensor says what to do about a sensor that ${what}`, async () => {
    using unit = await SensorUnit.create();
    await unit.write("/home/script", "echo 1");
    await using sensor = unit.start(command);
    assertEquals((await sensor.waitForEnd()).code, status);
    assertMatch(sensor.stderr, log);
    assertMatch(sensor.stderr, /^<4>.*\n$/m);
  });
}

Deno.test("run-sensor runs nothing without a sensor, and ends with 0", async () => {
  using unit = await SensorUnit.create();
  await using sensor = unit.start("");
  assertEquals((await sensor.waitForEnd()).code, 0);
  assertEquals(sensor.stdout + sensor.stderr, "");
});

Deno.test("run-sensor runs no sensor that nobody reads, and names the remedy", async () => {
  using unit = await SensorUnit.create();
  await using sensor = unit.start("echo 1", { FLAGS: "--host ::" });
  assertEquals((await sensor.waitForEnd()).code, 0);
  assertEquals(sensor.stdout, "");
  assertMatch(
    sensor.stderr,
    /^<4>.* FLAGS lacks --stdin.*FLAGS=--stdin --json --max-age 15\n$/,
  );
});

for (const silence of ["5m", "0", "9999999999"]) {
  Deno.test(`run-sensor refuses ${silence} as SILENCE`, async () => {
    using unit = await SensorUnit.create();
    const settings = { FLAGS: "--stdin", SILENCE: silence };
    await using sensor = unit.start("echo 1", settings);
    assertEquals((await sensor.waitForEnd()).code, 0);
    assertEquals(sensor.stdout, "");
    assertEquals(
      sensor.stderr,
      "<4>The sensor does not run: SILENCE must be a number of seconds " +
        `from 1 to 9999999, not "${silence}"\n`,
    );
  });
}

/** Sensors that print no line, or no more. */
const SILENT: [what: string, sensor: string, printed: string][] = [
  ["hangs at once", "sleep 1000", ""],
  ["hangs later", "echo 1; sleep 1000", "1\n"],
  ["never ends a line", "while printf 1%99999d 1; do sleep 0.2; done", "1"],
];

for (const [what, command, printed] of SILENT) {
  Deno.test(`with SILENCE, a sensor that ${what} ends with all its processes, and the journal says why`, async () => {
    using unit = await SensorUnit.create();
    const settings = { FLAGS: "--stdin", SILENCE: "1" };
    await using sensor = unit.start(command, settings);
    assertEquals((await sensor.waitForEnd()).signal, "SIGTERM");
    assertEquals(sensor.stdout.slice(0, printed.length || 1), printed);
    assertMatch(
      sensor.stderr,
      /^<4>.* no line for 1 s: stopping it; systemd /m,
    );
    const running = ["-r", "R,S,D,T", "-g", `${sensor.pid}`]; // zombies have ended
    const { code } = await output("pgrep", running);
    assertEquals(code, 1);
  });
}

Deno.test("with SILENCE, lines pass unchanged as they come, and the status is the sensor's", async () => {
  using unit = await SensorUnit.create();
  const settings = { FLAGS: "--stdin", SILENCE: "5" };
  const print = "printf ' a\\\\b\\0c\\n\\n'; sleep 0.1; printf half; exit 7";
  await using sensor = unit.start(print, settings);
  assertEquals((await sensor.waitForEnd()).code, 7);
  assertEquals(sensor.stdout, " a\\b\0c\n\nhalf");
  assertMatch(sensor.stderr, /^<4>The sensor ended with status 7\n$/);
});

Deno.test("with SILENCE, a line without an end takes no memory", async () => {
  using unit = await SensorUnit.create();
  const settings = { FLAGS: "--stdin", SILENCE: "9999999" };
  const print = "head -c 8M /dev/zero | tr '\\0' 1; exec sleep 1000";
  await using sensor = unit.start(print, settings);
  const length = () => sensor.stdout.length;
  await waitFor("the line", length, (length) => length === 2 ** 23);
  const { stdout } = await output("ps", ["-o", "rss=,pgid=,args=", "-e"]);
  const own = stdout.split("\n").map((line) => line.trim().split(/ +/))
    .filter(([, group]) => group === `${sensor.pid}`);
  assert(own.length > 2, stdout);
  assertEquals(own.filter(([rssKb]) => Number(rssKb) > 8_000), []);
});
