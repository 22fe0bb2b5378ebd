// What runs the sensor in its unit: settings in, lines and a status out.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { missingGermanLocale, needs } from "../helpers/needs.ts";
import { output } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";
import { SensorUnit } from "./sensor_unit.ts";

/** Files that the rows below use. */
const FILES = {
  "/home/script": "echo 1",
  "/usr/local/bin/windows": "#!/bin/sh\r\necho 1\r\n",
  "/usr/local/bin/python": "#!/usr/bin/no-python\nprint(1)\n",
};

const READ = "--stdin --json";

/** Settings, the status with which the sensor ends, and what the journal then says. */
// deno-fmt-ignore -- a row each
const ENDS: [settings: { SENSOR: string; FLAGS?: string; SILENCE?: string; PATH?: string }, status: number, log: RegExp][] = [
  [{ SENSOR: "echo 1" }, 1, /^<4>The sensor ended with status 0\. .* repeat it: SENSOR=while/m],
  [{ SENSOR: "echo 1; exit 3" }, 3, /^<4>The sensor ended with status 3$/m],
  [{ SENSOR: "kill -KILL $$" }, 137, /^<4>The sensor ended with status 137$/m],
  [{ SENSOR: "/home/script" }, 126, /Permission denied\n<4>The sensor is not executable.*chmod 755/],
  [{ SENSOR: "no_such_command" }, 127, /not found\n<4>The sensor was not found/],
  [{ SENSOR: "/usr/local/bin/windows" }, 127, /^<4>".*windows" has the line ends of Windows/m],
  [{ SENSOR: "/usr/local/bin/python" }, 127, /^<4>".*python" names an interpreter that is not there, "\/usr\/bin\/no-python"/m],
  [{ SENSOR: "printf '%sn' 1" }, 1, /^<4>printf in SENSOR ends no line: .*write each backslash twice/m],
  [{ SENSOR: "sudo true; exit 4" }, 4, /^<4>The sensor cannot use sudo/m],
  [{ SENSOR: "echo 1 & echo 2; exit 4" }, 4, /^<4>SENSOR runs several programs, .* pipe them to "latest"/m],
  [{ SENSOR: "" }, 0, /^<4>No sensor is set/],
  [{ SENSOR: "", FLAGS: "" }, 0, /^$/],
  [{ SENSOR: "~/my-sensor" }, 127, /^<4>The home .* "~", "\$HOME" and "\.\/"/m],
  [{ SENSOR: 'python3 "$HOME/sensor.py"' }, 2, /^<4>The home .* others than yours: write whole paths/m],
  [{ SENSOR: "python sensor.py", PATH: "/usr/bin:/bin" }, 127, /^<4>There is no "python": write "python3"/m],
  [{ SENSOR: "echo 1", FLAGS: "--host ::" }, 0, /^<4>.* FLAGS lacks --stdin.*FLAGS=--stdin --json\n$/],
  [{ SENSOR: "echo 1", SILENCE: "5m" }, 0, /^<4>.* SILENCE must be a number of seconds from 1 to 9999999, not "5m"\n$/],
  [{ SENSOR: "echo 1", SILENCE: "0" }, 0, /not "0"\n$/],
  [{ SENSOR: "echo 1", SILENCE: "9999999999" }, 0, /not "9999999999"\n$/],
  [{ SENSOR: "echo 1; exit 7", SILENCE: "60" }, 7, /^<4>The sensor ended with status 7\n$/],
];

for (const [{ SENSOR, FLAGS = READ, ...others }, status, log] of ENDS) {
  const shown = JSON.stringify({ SENSOR, FLAGS, ...others });
  Deno.test(`run-sensor with ${shown} ends with ${status}`, async () => {
    using unit = await SensorUnit.create(FILES);
    await using sensor = unit.start(SENSOR, { FLAGS, ...others });
    const { code } = await sensor.waitForEnd();
    assertMatch(sensor.stderr, log);
    assertEquals(code, status);
    if (status === 0) assertEquals(sensor.stdout, "");
  });
}

const LOOP = "while echo 1; do sleep 0.2; done";

/** A program in Python, which reads and prints lines. */
const ADD_3 = "-c 'import sys\nfor line in sys.stdin: print(int(line) + 3)'";

/** Filters as users write them, and what they make of lines with 1 in the unit. */
const FILTERS: [filter: string, printed: string][] = [
  ["sed s/1/12/ | cut -c 2 | tr 2 7 | jq -c .+1 | grep -v 9", "8"],
  ["awk -W interactive '{ print $1 }'", "1"],
  ["perl -pe '$| = 1; s/,/./'", "1"],
  [`python3 ${ADD_3}`, "4"],
  ["paste - - | tr '\\t' ,", "1,1"],
];

for (const [filter, printed] of FILTERS) {
  const [first] = filter.split("\n") as [string];
  Deno.test(
    `each line of "… | ${first}" arrives at once`,
    needs({ commands: [filter.split(" ")[0]!, "jq"] }),
    async () => {
      using unit = await SensorUnit.create();
      await using sensor = unit.start(`${LOOP} | ${filter}`);
      await waitFor(
        "the first line",
        () => sensor.stdout,
        (stdout) => stdout.startsWith(`${printed}\n`),
      );
    },
  );
}

Deno.test("run-sensor says that only the last of two SENSOR counts", async () => {
  const settings = "SENSOR=\n#SENSOR=echo 0\nSENSOR=echo 1\nSENSOR=echo 2\n";
  using unit = await SensorUnit.create({ "/etc/default/datasensor": settings });
  await using sensor = unit.start("echo 2");
  await sensor.waitForEnd();
  assertMatch(
    sensor.stderr,
    /^<4>SENSOR is set 2 times in .* last one counts$/m,
  );
});

for (
  const [command, isSilent] of [["echo 1 >&2", true], [
    "echo 1",
    false,
  ]] as const
) {
  Deno.test(`run-sensor ${isSilent ? "says" : "does not say"} that "${command}" has printed nothing`, async () => {
    using unit = await SensorUnit.create();
    // A second instead of a minute; the next line shows that it is over
    const { stderr } = await unit.run(
      `cd /usr/lib/datasensor/ && mkfifo fifo && exec 3<>fifo
sed -i 's/-rt 60/-rt 1/' run-sensor
SENSOR='${command}; sleep 3; exit 3' FLAGS=--stdin ./run-sensor >fifo`,
    );
    const said =
      /^<4>The sensor runs, but has printed nothing to standard output/m;
    assertEquals(said.test(stderr), isSilent, stderr);
    assertMatch(stderr, /^<4>The sensor ended with status 3$/m);
  });
}

Deno.test(
  "on a German board, awk prints a decimal point",
  needs({ missing: [missingGermanLocale()] }),
  async () => {
    using place = await Folder.create();
    const define = "--no-archive -i de_DE -f UTF-8 ./de_DE.UTF-8".split(" ");
    const { code } = await output("localedef", define, { cwd: place.path });
    assertEquals(code, 0);
    using unit = await SensorUnit.create();
    const settings = { FLAGS: READ, LOCPATH: place.path };
    const half = "echo 1 | awk '{ print $1 / 2 }'";
    await using sensor = unit.start(half, settings);
    await sensor.waitForEnd();
    assertEquals(sensor.stdout, "0.5\n");
  },
);

/** Sensors that print no line, or no more. */
const SILENT: [what: string, sensor: string, printed: string][] = [
  ["hangs at once", "sleep 1000", ""],
  ["hangs later", "echo 1; sleep 1000", "1\n"],
  ["never ends a line", "while printf 1%99999d 1; do sleep 0.2; done", "1"],
];

for (const [what, command, printed] of SILENT) {
  Deno.test(`with SILENCE, a sensor that ${what} ends with all its processes`, async () => {
    using unit = await SensorUnit.create();
    // What it prints must come before that, also on a busy machine
    const silence = printed ? 5 : 1;
    const settings = { FLAGS: READ, SILENCE: `${silence}` };
    await using sensor = unit.start(command, settings);
    assertEquals((await sensor.waitForEnd()).signal, "SIGTERM");
    assertEquals(sensor.stdout.slice(0, printed.length || 1), printed);
    assertMatch(
      sensor.stderr,
      RegExp(`^<4>.* no line for ${silence} s: stopping it; systemd `, "m"),
    );
    const running = ["-r", "R,S,D,T", "-g", `${sensor.pid}`]; // zombies have ended
    // What has got the signal may take a moment to end
    const find = async () => (await output("pgrep", running)).stdout;
    await waitFor("the end of all processes", find, (pids) => pids === "");
  });
}

Deno.test("with SILENCE, lines pass unchanged as they come", async () => {
  using unit = await SensorUnit.create();
  const print = "printf ' a\\\\b\\0c\\n\\n'; sleep 0.1; printf half";
  await using sensor = unit.start(print, { FLAGS: READ, SILENCE: "60" });
  await sensor.waitForEnd();
  assertEquals(sensor.stdout, " a\\b\0c\n\nhalf");
});

Deno.test("with SILENCE, a line without an end takes no memory", async () => {
  using unit = await SensorUnit.create();
  const print = "head -c 8M /dev/zero | tr '\\0' 1; exec sleep 1000";
  const settings = { FLAGS: READ, SILENCE: "9999999" };
  await using sensor = unit.start(print, settings);
  const length = () => sensor.stdout.length;
  await waitFor("the line", length, (length) => length === 2 ** 23);
  const { stdout } = await output("ps", ["-o", "rss=,pgid=,args=", "-e"]);
  const own = stdout.split("\n").map((line) => line.trim().split(/ +/))
    .filter(([, group]) => group === `${sensor.pid}`);
  assert(own.length > 2, stdout);
  assertEquals(own.filter(([rssKb]) => Number(rssKb) > 8_000), []);
});
