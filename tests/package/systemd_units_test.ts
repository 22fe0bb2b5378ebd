// What the package's systemd units set. tests/board runs them.

import { assertEquals } from "@std/assert";
import { Folder } from "../helpers/files.ts";
import { output } from "../helpers/process.ts";
import { Machine, missingMachine } from "../helpers/machine.ts";
import { skipIf } from "../helpers/skip.ts";
import { waitFor } from "../helpers/wait.ts";

Deno.test(
  skipIf(missingMachine("systemd-analyze"), "the units are valid"),
  async () => {
    await using machine = await Machine.start({ "/usr/bin/datasensor": "" });
    const units = "datasensor.service datasensor-sensor.service";
    const { code, stdout, stderr } = await machine.type(
      `systemd-analyze verify --man=no ${units}`,
    );
    assertEquals([code, stdout, stderr], [0, "", ""]);
  },
);

const LOOP = "while echo 1; do sleep 0.2; done";

/** A program in Python, which reads and prints lines. */
const ADD_3 = "-c 'import sys\nfor line in sys.stdin: print(int(line) + 3)'";

/** Filters as users write them, and what they make of lines with 1. */
const FILTERS: [filter: string, printed: string][] = [
  ["sed s/1/12/ | cut -c 2 | tr 2 7 | jq -c .+1 | grep -v 9", "8"],
  ["awk -W interactive '{ print $1 }'", "1"],
  [`python3 ${ADD_3}`, "4"],
];

for (const [filter, printed] of FILTERS) {
  const [first] = filter.split("\n") as [string];
  Deno.test(
    skipIf(
      missingMachine(filter.split(" ")[0]!, "jq"),
      `a sensor's lines arrive at once through "${first}"`,
    ),
    async () => {
      await using machine = await Machine.start();
      await using sensor = machine.startSensor(`${LOOP} | ${filter}`);
      const read = () => sensor.stdout;
      const hasLine = (text: string) => text.startsWith(`${printed}\n`);
      await waitFor("the first line", read, hasLine);
    },
  );
}

Deno.test(
  skipIf(
    missingMachine("/usr/share/i18n/locales/de_DE"),
    "a sensor's awk prints a decimal point, on a German board too",
  ),
  async () => {
    using place = await Folder.create();
    const define = "--no-archive -i de_DE -f UTF-8 ./de_DE.UTF-8".split(" ");
    const { code } = await output("localedef", define, { cwd: place.path });
    assertEquals(code, 0);
    await using machine = await Machine.start();
    const env = { LC_ALL: "de_DE.UTF-8", LOCPATH: place.path };
    const half = "echo 1 | awk '{ print $1 / 2 }'";
    await using sensor = machine.startSensor(half, env);
    await sensor.waitForEnd();
    assertEquals(sensor.stdout, "0.5\n");
  },
);
