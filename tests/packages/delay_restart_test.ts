// What delays a restart of a service that cannot start. tests/board restarts it.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { guide } from "../helpers/guide.ts";
import { output } from "../helpers/process.ts";

const SCRIPT = "src/board/package/usr/lib/datasensor/delay-restart";

/** When the service was started, and when it last became active and ended, in s. */
const STARTS: [
  what: string,
  restarts: number,
  active: number,
  ended: number,
  started: number,
  delay: string,
][] = [
  ["at boot", 0, 0, 0, 12, ""],
  ["by an operator, after failures", 0, 100, 101, 102, ""],
  ["after a crash", 3, 100, 200, 200.5, ""],
  ["2 s after a sensor ended", 3, 100, 200, 202.1, ""],
  ["after a crash within 10 s", 1, 100, 109, 109.5, "sleep 25\n"],
  [
    "after a run that ended before another failure",
    1,
    100,
    200,
    226,
    "sleep 25\n",
  ],
  ["if it was never active", 1, 0, 0, 12, "sleep 25\n"],
];

for (const [what, restarts, active, ended, started, delay] of STARTS) {
  const waits = delay ? "waits" : "does not wait";
  Deno.test(`delay-restart ${waits} when the service is started ${what}`, async () => {
    using folder = await Folder.create();
    const properties = {
      NRestarts: restarts,
      ActiveEnterTimestampMonotonic: active * 1e6,
      ActiveExitTimestampMonotonic: ended * 1e6,
      InactiveExitTimestampMonotonic: started * 1e6,
    };
    const lines = Object.entries(properties).map((pair) => pair.join("="));
    const fakes = {
      systemctl: `echo '${lines.join("\n")}'`,
      sleep: 'echo "sleep $*"',
    };
    for (const [name, command] of Object.entries(fakes)) {
      const text = `#!/bin/sh\n${command}\n`;
      await Deno.writeTextFile(`${folder.path}/${name}`, text, { mode: 0o755 });
    }
    const script = 'PATH=$0:$PATH; sh "$1" datasensor 10 25';
    const args = ["-c", script, folder.path, SCRIPT];
    const { stdout, stderr } = await output("sh", args);
    assertEquals([stdout, stderr], [delay, ""]);
  });
}

/** The units, by the names that the guide gives to what they run. */
const UNITS = {
  service: "datasensor.service",
  sensor: "datasensor-sensor.service",
};

for (const [name, file] of Object.entries(UNITS)) {
  Deno.test(`${file} restarts the ${name} when the guide says`, async () => {
    const rows = guide.text.matchAll(
      RegExp(String.raw`^\| the ${name} +\| (\D*)(\d+) s.*\| (\S+) s`, "gm"),
    );
    const said = Array.from(rows, ([, less, ran, after]) => [less, ran, after]);
    const folder = "src/board/package/usr/lib/systemd/system";
    const unit = await Deno.readTextFile(`${folder}/${file}`);
    const [, count, inMs] = unit.match(/^RestartSec=(\d+)(ms)?$/m)!;
    const restart = Number(count) / (inMs ? 1000 : 1);
    const [, long, wait] = unit.match(/delay-restart %N (\d+) (\d+)$/m)!;
    const whole = Math.trunc(restart + Number(wait));
    assertEquals(said, [
      ["", long, `${restart}`],
      ["less than ", long, `${whole}`],
    ]);
  });
}
