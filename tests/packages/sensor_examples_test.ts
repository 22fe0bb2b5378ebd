// The examples of sensors in the settings. tests/board runs them in the unit.

import { assertEquals } from "@std/assert";
import { HEARD, KEYS } from "../consumers/radio.ts";
import { needs } from "../helpers/needs.ts";
import { output, Process } from "../helpers/process.ts";
import { waitFor } from "../helpers/wait.ts";

const settings = await Deno.readTextFile(
  ".board/package/etc/default/datasensor",
);
const sensors = settings.match(/(?<=^#SENSOR=).*$/gm)!;
const unit = await Deno.readTextFile(
  ".board/package/usr/lib/systemd/system/datasensor-sensor.service",
);
const variables = unit.match(/(?<=^Environment=).*$/gm)!.join(" ");

/** Stand in for commands of the examples. */
const FAKES = `sleep() { command sleep infinity; }
awk() { echo 21500 | command awk "$1"; }
rtl_433() { printf %s "$HEARD"; printf '%s\n' junk 5 [] '{"time" : "2026'; sleep; }
kitchen() { printf '%s\n' '{"kitchen": 20}' Bye; sleep; }
attic() { echo '{"attic": 15}'; sleep; }
my_sensor() { printf '%s\n' junk 7; sleep; }`;

const heard = HEARD.trim().split("\n")
  .map((line) => ({ ...JSON.parse(line), time: 0 }));
const byKey = Object.fromEntries(heard.map((it, index) => [KEYS[index], it]));

/** How many lines each example then prints, and the last one. */
const PRINTED: [lines: number, last: unknown][] = [
  [1, 21.5],
  [1, 21.5],
  [10, undefined],
  [6, byKey],
  [2, heard[1]],
  [2, { kitchen: 20, attic: 15 }],
  [1, { value: 7, time: 0 }],
  [1, 7],
  [10, undefined],
];

Deno.test(
  "the examples of sensors print each reading at once, skip junk, and end when reading fails, on a board whose language is German too",
  needs({ commands: ["jq"] }),
  async () => {
    const env = { LC_ALL: "de_DE.UTF-8", HEARD };
    assertEquals(sensors.length, PRINTED.length);
    for (const [index, [count, last]] of PRINTED.entries()) {
      const sensor = sensors[index]!.replace(/^\/home\S+/, "echo 7 #")
        .replace(/^\/usr\/local\/bin\/my-sensor/, "my_sensor");
      const script = `export ${variables}\n${FAKES}\n${sensor}`;
      const options = { env, killGroup: true };
      await using process = new Process("sh", ["-c", script], options);
      const lines = () => process.stdout.split("\n").slice(0, -1);
      const isDone = (lines: string[]) => lines.length === count;
      await waitFor(`${count} lines`, lines, isDone);
      const line = lines().at(-1)!.replace(/"20[^"]*"/g, "0");
      if (last) assertEquals(JSON.parse(line), last);
      if (!sensor.startsWith("while")) continue;
      const failing = `awk() { false; }; sleep() { :; }; ${sensor}`;
      assertEquals((await output("sh", ["-c", failing], {}, 9_000)).stdout, "");
    }
  },
);

/** What the example of radio sensors serves while the board's clock changes. */
const CLOCK: [time: string, model: string, served: string[]][] = [
  ["2026-07-01T12:00:00Z", "a", ["a"]],
  ["2026-07-01T12:59:59Z", "b", ["a", "b"]],
  ["2026-07-01T13:00:00Z", "c", ["b", "c"]], // after an hour
  ["2026-08-01T00:00:00Z", "d", ["d"]], // set forward
  ["2026-07-01T12:00:00Z", "e", ["e"]], // set back
  ["2026-07-01T12:00:01Z", "d", ["e", "d"]],
];

Deno.test(
  "the example of radio sensors drops those that were silent for an hour, in summer time too, and when the clock is set",
  needs({ commands: ["jq"] }),
  async () => {
    const lines = CLOCK.map(([time, model]) =>
      JSON.stringify({ model, clock: Date.parse(time) / 1000 })
    );
    const all = sensors.find((sensor) => sensor.includes("foreach"))!;
    const script = `rtl_433() { echo '${lines.join("\n")}'; }
      ${all.replaceAll("now", "$r.clock")}`;
    const options = { env: { TZ: "Europe/Berlin" } };
    const { stdout, stderr } = await output("sh", ["-c", script], options);
    const served = stdout.trim().split("\n")
      .map((line) => Object.keys(JSON.parse(line)));
    assertEquals(served, CLOCK.map(([, , models]) => models), stderr);
  },
);
